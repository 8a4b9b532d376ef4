# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish. The command itself says what there is, by --complete: lines of names and what they take, with TABs between.

# Paths on a server: of nfs://HOST/DIRECTORY/NAM, what its directory has, as parts of a URL. The server has two seconds.
function __rpcrdma_url
	set -l directory (string replace -r '[^/]*$' '' -- $argv[2])
	set -l hidden
	string match -qr '^nfs://[^/]+/[^?]*$' -- $argv[2]; or return
	string match -qr '/\.[^/]*$' -- $argv[2]; and set hidden -a
	for name in (timeout 2 $argv[1] ls -1 $hidden $directory 2>/dev/null </dev/null)
		echo $directory(string replace -a '%' '%25' -- $name | string replace -a '?' '%3F' | string replace -a '#' '%23' | string replace -a ' ' '%20')
	end
end

function __rpcrdma_words
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l before $words[-1]
	set -l front
	set -l operand
	set -l names
	if string match -qr -- '^--[^=]+=' $current
		set before (string replace -r '=.*' '' -- $current)
		set front $before=
	end
	for line in ($words[1] --complete $words[2] 2>/dev/null)
		set -l fields (string split \t -- $line)
		if test "$fields[1]" = operand
			set operand $fields[2]
		else if test "$fields[1]" = "$before" -a "$fields[2]" != -
			if test "$fields[3]" != -
				printf "$front%s\n" (string split ' ' -- $fields[3])
			else if string match -qr '^(FILE|DIR|FOLDER|BASE|SOCKET)' -- $fields[2]
				__fish_complete_path $current
			end
			return
		else
			set -a names $fields[1]\t$fields[4]
		end
	end
	if string match -q -- '-*' $current
		printf '%s\n' $names
	else if string match -q -- 'nfs://*' $current
		__rpcrdma_url $words[1] $current
	else if test "$operand" = FILE
		__fish_complete_path $current
	end
end

function __rpcrdma_commands
	set -l words (commandline -opc)
	$words[1] --complete 2>/dev/null
end

function __rpcrdma_is_first
	test (count (commandline -opc)) = 1
end

function __rpcrdma_is_help
	set -l words (commandline -opc)
	test (count $words) -gt 1 -a "$words[2]" = help
end

complete -c rpcrdma -f
complete -c rpcrdma -n '__rpcrdma_is_first; or __rpcrdma_is_help' -a '(__rpcrdma_commands)'
complete -c rpcrdma -n __rpcrdma_is_first -a help -d 'list the commands, or the options of one'
complete -c rpcrdma -n __rpcrdma_is_first -a version -d 'print the version'
complete -c rpcrdma -n 'not __rpcrdma_is_first; and not __rpcrdma_is_help' -a '(__rpcrdma_words)'
