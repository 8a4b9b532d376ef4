-- SPDX-License-Identifier: BSD-3-Clause
-- RPC-over-RDMA version 2 over iWARP (draft-cel-nfsv4-rpcrdma-version-two-00): its headers, its transport properties
-- (draft-cel-nfsv4-rpcrdma-version-two-03, section 5), RDMA_DONE, and the RPC messages, with what went by RDMA put
-- back in its place.
--
--     tshark -X lua_script:wireshark/rpcrdma2.lua -r FILE
--
-- It looks at each frame after all others have: the dissector of version 1 that Wireshark has takes messages of
-- version 2 for its own, and shows nothing of them.

local rpcrdma2 = Proto("rpcrdma2", "RPC-over-RDMA Version 2")

local MSG, NOMSG, MSGP, DONE, ERROR, OPTIONAL = 0, 1, 2, 3, 4, 5
local PROCS = { [0] = "RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR", "RDMA_OPTIONAL" }
local ERRORS = { "RDMA_ERR_VERS", "RDMA_ERR_BAD_HEADER", "RDMA_ERR_INVAL_OPTION" }
local OPERATIONS = { "CONNPROP", "REQPROP", "RESPPROP", "UPDPROP" }
local PROPERTIES = {
	[1] = "Receive Buffer Size", [2] = "Backward Request Support",
	[0xffffff00] = "Responder-Provided Read Chunks (experimental)", [0xffffff01] = "Remote Invalidation (experimental)",
}

local f = {
	xid = ProtoField.uint32("rpcrdma2.xid", "XID", base.HEX),
	vers = ProtoField.uint32("rpcrdma2.vers", "Version"),
	credit = ProtoField.uint32("rpcrdma2.credit", "Credit value"),
	proc = ProtoField.uint32("rpcrdma2.proc", "Procedure", base.DEC, PROCS),
	reads = ProtoField.uint32("rpcrdma2.read_segments", "Segments in the Read list"),
	writes = ProtoField.uint32("rpcrdma2.write_chunks", "Write chunks"),
	reply = ProtoField.bool("rpcrdma2.reply_chunk", "Reply chunk"),
	segments = ProtoField.uint32("rpcrdma2.segments", "Segments"),
	position = ProtoField.uint32("rpcrdma2.position", "Position"),
	handle = ProtoField.uint32("rpcrdma2.handle", "Handle", base.HEX),
	length = ProtoField.uint32("rpcrdma2.length", "Length"),
	offset = ProtoField.uint64("rpcrdma2.offset", "Offset", base.HEX),
	err = ProtoField.uint32("rpcrdma2.err", "Error", base.DEC, ERRORS),
	low = ProtoField.uint32("rpcrdma2.vers_low", "Lowest version"),
	high = ProtoField.uint32("rpcrdma2.vers_high", "Highest version"),
	opttype = ProtoField.uint32("rpcrdma2.opttype", "Optional type", base.DEC, OPERATIONS),
	optinfo = ProtoField.bytes("rpcrdma2.optinfo", "Optional information"),
	set = ProtoField.uint32("rpcrdma2.properties", "Properties"),
	which = ProtoField.uint32("rpcrdma2.property", "Property", base.HEX, PROPERTIES),
	value = ProtoField.uint32("rpcrdma2.property.value", "Value"),
	data = ProtoField.bytes("rpcrdma2.property.data", "Data"),
	nochg = ProtoField.uint32("rpcrdma2.nochg", "Will not change", base.HEX),
	done = ProtoField.uint32("rpcrdma2.done", "Done", base.HEX),
	rejected = ProtoField.uint32("rpcrdma2.rejected", "Rejected", base.HEX),
	of = ProtoField.framenum("rpcrdma2.done_for", "The reply is in frame"),
	from = ProtoField.framenum("rpcrdma2.header_in", "The header is in frame"),
}
rpcrdma2.fields = f
local malformed = ProtoExpert.new("rpcrdma2.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
rpcrdma2.experts = { malformed }

local ulpdu_length = Field.new("iwarp_mpa.ulpdulength")
local tcp_stream = Field.new("tcp.stream")

---------------------------------------------------------------------------------------------------
-- The header (section 4.2), from a range of octets to a table. Whoever reads it adds it to a tree, too.

local Reader = {}
Reader.__index = Reader

local function reader(range, tree)
	return setmetatable({ range = range, at = 0, tree = tree }, Reader)
end

-- The next 32-bit word, shown as a field. An error where there is none: see read_header().
function Reader:word(field, tree)
	local word = self.range(self.at, 4)
	self.at = self.at + 4
	if field and (tree or self.tree) then
		return word:uint(), (tree or self.tree):add(field, word)
	end
	return word:uint()
end

function Reader:branch(size, text)
	if self.tree then
		return self.tree:add(rpcrdma2, self.range(self.at, math.min(size, self.range:len() - self.at)), text)
	end
end

function Reader:segment(tree)
	local segment = { handle = self:word(f.handle, tree), length = self:word(f.length, tree) }
	local offset = self.range(self.at, 8)
	segment.offset = offset:uint64()
	self.at = self.at + 8
	if tree then
		tree:add(f.offset, offset)
	end
	return segment
end

function Reader:read_segment(text)
	local tree = self:branch(20, text)
	local position = self:word(f.position, tree)
	local segment = self:segment(tree)
	segment.position = position
	return segment
end

function Reader:chunk(text)
	local count = self.range(self.at, 4):uint()
	local tree = self:branch(4 + 16 * count, text)
	local segments = {}
	self:word(f.segments, tree)
	for i = 1, count do
		segments[i] = self:segment(tree)
	end
	return segments
end

-- A list of what one of the two above reads.
function Reader:list(read, text)
	local items = {}
	while self:word() ~= 0 do
		items[#items + 1] = read(self, text)
	end
	return items
end

function Reader:generated(field, value)
	if self.tree then
		self.tree:add(field, value):set_generated()
	end
end

function Reader:lists(header)
	header.reads = self:list(self.read_segment, "Read segment")
	self:generated(f.reads, #header.reads)
	header.writes = self:list(self.chunk, "Write chunk")
	self:generated(f.writes, #header.writes)
	if self:word() ~= 0 then
		header.reply = self:chunk("Reply chunk")
	end
	self:generated(f.reply, header.reply ~= nil)
end

-- rpcrdma2_propset
function Reader:properties()
	local count = self:word(f.set)
	for _ = 1, count do
		local size = self.range(self.at + 4, 4):uint()
		local padded = size + (4 - size % 4) % 4
		local tree = self:branch(8 + padded, "Property")
		self:word(f.which, tree)
		self:word(nil)
		if tree and size == 4 then
			tree:add(f.value, self.range(self.at, 4))
		elseif tree and size > 0 then
			tree:add(f.data, self.range(self.at, size))
		end
		self.at = self.at + padded
	end
end

-- rpcrdma2_propsubset
function Reader:subset(field)
	for _ = 1, self:word() do
		self:word(field)
	end
end

function Reader:operation(opttype)
	if opttype == 1 then
		self:properties()
		self:subset(f.nochg)
	elseif opttype == 3 then
		self:subset(f.done)
		self:subset(f.rejected)
		self:properties()
	else
		self:properties()
	end
end

function Reader:optional(header)
	header.opttype = self:word(f.opttype)
	local size = self:word()
	local info = self.range(self.at, size + (4 - size % 4) % 4)
	local tree = self.tree and size > 0 and self.tree:add(f.optinfo, info(0, size))
	if OPERATIONS[header.opttype] then
		reader(info(0, size), tree):operation(header.opttype)
	end
	self.at = self.at + info:len()
end

function Reader:error(header)
	header.err = self:word(f.err)
	if header.err == 1 then
		self:word(f.low)
		self:word(f.high)
	end
end

function Reader:header()
	local header = { xid = self:word(f.xid), vers = self:word(f.vers) }
	self:word(f.credit)
	header.proc = self:word(f.proc)
	if header.proc == MSG or header.proc == NOMSG then
		self:lists(header)
	elseif header.proc == ERROR then
		self:error(header)
	elseif header.proc == OPTIONAL then
		self:optional(header)
	end
	header.size = self.at
	return header
end

-- The header at the front of a range, or nil where it breaks off.
local function read_header(range, tree)
	local read, header = pcall(Reader.header, reader(range, tree))
	return read and header or nil
end

---------------------------------------------------------------------------------------------------
-- What a connection has carried so far: see first_look(). One table for each side of it, by address and port.

local connections, frames

function rpcrdma2.init()
	connections, frames = {}, {}
end

local function new_side()
	return {
		sends = {},    -- by MSN: parts of a Send that takes several DDP segments
		calls = {},    -- by XID: the header of a call that this side sent, and its RPC program
		replies = {},  -- by XID: the frame of a reply that this side sent
		memory = {},   -- by handle: parts that are known of this side's memory, as { offset, octets }
		requests = {}, -- by sink handle: the RDMA Reads that this side asked for
		pending = {},  -- messages of this side whose Read chunks the other side has not pulled
	}
end

local function sides(pinfo)
	local stream = tcp_stream().value
	local from = tostring(pinfo.src) .. " " .. pinfo.src_port
	local to = tostring(pinfo.dst) .. " " .. pinfo.dst_port
	local connection = connections[stream] or { [from] = new_side(), [to] = new_side() }
	connections[stream] = connection
	return connection[from], connection[to]
end

local function remember(side, handle, offset, octets)
	local parts = side.memory[handle]
	if parts then
		parts[#parts + 1] = { offset = offset, octets = octets }
	end
end

-- What is known of the octets of a segment, from its front up to the first gap.
local function recall(side, segment)
	local octets, at = ByteArray.new(), segment.offset
	local parts = side.memory[segment.handle] or {}
	table.sort(parts, function(a, b) return a.offset < b.offset end)
	for _, part in ipairs(parts) do
		if part.offset == at and octets:len() < segment.length then
			octets:append(part.octets)
			at = at + part.octets:len()
		end
	end
	return octets:len() >= segment.length and octets:subset(0, segment.length) or nil
end

local function recall_chunk(side, segments)
	local octets = ByteArray.new()
	for _, segment in ipairs(segments) do
		local part = segment.length > 0 and recall(side, segment) or segment.length == 0 and ByteArray.new()
		if not part then
			return nil
		end
		octets:append(part)
	end
	return octets
end

local function padded(octets)
	local copy = octets:subset(0, octets:len())
	for _ = 1, (4 - octets:len() % 4) % 4 do
		copy:append(ByteArray.new("00"))
	end
	return copy
end

local function word_at(octets, at)
	if octets:len() < at + 4 then
		return nil
	end
	local word = 0
	for i = at, at + 3 do
		word = word * 256 + octets:get_index(i)
	end
	return word
end

---------------------------------------------------------------------------------------------------
-- The RPC message of a header: its payload stream with the contents of chunks put back.

local function append(message, octets, from, to)
	if to > from then
		message:append(octets:subset(from, to - from))
	end
end

-- Puts parts, in their order, where they belong in the payload.
local function with_parts(payload, parts)
	local message, taken = ByteArray.new(), 0
	for _, part in ipairs(parts) do
		if part.at < taken or part.at > payload:len() then
			return nil
		end
		append(message, payload, taken, part.at)
		message:append(part.octets)
		taken = part.at
	end
	append(message, payload, taken, payload:len())
	return message
end

-- Puts the Read chunks of a message where their positions, in the whole message, say.
local function with_reads(owner, header, payload)
	local chunks, positions = {}, {}
	for _, segment in ipairs(header.reads) do
		if not chunks[segment.position] then
			chunks[segment.position] = {}
			positions[#positions + 1] = segment.position
		end
		table.insert(chunks[segment.position], segment)
	end
	table.sort(positions)
	local parts, before = {}, 0
	for _, position in ipairs(positions) do
		local octets = recall_chunk(owner, chunks[position])
		if not octets then
			return nil
		end
		if position == 0 then
			payload = octets
		else
			local part = { at = position - before, octets = padded(octets) }
			parts[#parts + 1] = part
			before = before + part.octets:len()
		end
	end
	return with_parts(payload, parts)
end

-- Where the contents of a Write chunk were taken out: behind the word that has their length. In NFS versions 2 and 3
-- what is placed ends the reply.
local function place_of(call, payload, from, length)
	if call.program == 100003 and call.version < 4 then
		return payload:len()
	end
	for at = from, payload:len() - 4, 4 do
		if word_at(payload, at) == length then
			return at + 4
		end
	end
end

local function with_writes(requester, call, header, payload)
	local parts, place = {}, 0
	for _, segments in ipairs(header.writes) do
		local octets = recall_chunk(requester, segments)
		if not octets then
			return nil
		end
		if octets:len() > 0 then
			place = place_of(call, payload, place, octets:len())
			if not place then
				return nil
			end
			parts[#parts + 1] = { at = place, octets = padded(octets) }
		end
	end
	return with_parts(payload, parts)
end

local function offer(side, segments)
	for _, segment in ipairs(segments) do
		side.memory[segment.handle] = {}
	end
end

local function note_call(side, header, payload)
	header.program, header.version = word_at(payload, 12), word_at(payload, 16)
	side.calls[header.xid] = header
	for _, chunk in ipairs(header.writes) do
		offer(side, chunk)
	end
	offer(side, header.reply or {})
end

-- A message with Read chunks is shown once they have been pulled, by complete_reads().
local function wait_for_reads(side, header, payload, frame)
	offer(side, header.reads)
	side.pending[#side.pending + 1] = { header = header, payload = payload, frame = frame }
end

local function is_reply(peer, header, payload)
	if header.proc == MSG then
		return word_at(payload, 4) == 1
	end
	return peer.calls[header.xid] ~= nil
end

local function reply_message(side, peer, header, payload, frame)
	local call = peer.calls[header.xid]
	peer.calls[header.xid] = nil
	side.replies[header.xid] = frame
	if header.proc == NOMSG and header.reply then
		payload = recall_chunk(peer, header.reply)
	end
	if not call or not payload then
		return nil
	end
	return with_writes(peer, call, header, payload)
end

-- The RPC message that ends with this Send, or nil.
local function message_of(side, peer, header, payload, frame)
	if header.proc ~= MSG and header.proc ~= NOMSG then
		return nil
	end
	local replies = is_reply(peer, header, payload)
	if #header.reads > 0 then
		wait_for_reads(side, header, payload, frame)
		if not replies then
			note_call(side, header, payload)
		end
		side.replies[header.xid] = frame
		return nil
	end
	if replies then
		return reply_message(side, peer, header, payload, frame)
	end
	note_call(side, header, payload)
	return payload
end

---------------------------------------------------------------------------------------------------
-- DDP segments (RFC 5040, 5041), when they are seen first.

local function complete_reads(owner, peer)
	for i, waiting in ipairs(owner.pending) do
		local message = with_reads(owner, waiting.header, waiting.payload)
		if message then
			local header = waiting.header
			table.remove(owner.pending, i)
			if owner.calls[header.xid] == header then
				header.program, header.version = word_at(message, 12), word_at(message, 16)
			else
				message = #header.writes == 0 and message
					or with_writes(peer, peer.calls[header.xid] or header, header, message)
			end
			return { message = message, header_in = waiting.frame }
		end
	end
end

local function read_request(side, range)
	local sink = range(18, 4):uint()
	side.requests[sink] = side.requests[sink] or {}
	table.insert(side.requests[sink], {
		sink_offset = range(22, 8):uint64(), length = range(30, 4):uint(),
		handle = range(34, 4):uint(), offset = range(38, 8):uint64(),
	})
end

-- A Read Response tells what is in the memory of its sender.
local function read_response(side, peer, stag, offset, octets, last)
	for _, request in ipairs(peer.requests[stag] or {}) do
		if offset >= request.sink_offset and offset < request.sink_offset + request.length then
			remember(side, request.handle, request.offset + (offset - request.sink_offset), octets)
			return last and complete_reads(side, peer) or nil
		end
	end
end

local function tagged(side, peer, opcode, range, last)
	local stag, offset = range(2, 4):uint(), range(6, 8):uint64()
	if range:len() == 14 then
		return nil
	end
	local octets = range(14):bytes()
	if opcode == 0 then
		remember(peer, stag, offset, octets)
		return nil
	end
	return read_response(side, peer, stag, offset, octets, last)
end

-- All octets of a Send that ends with this segment, or nil.
local function whole_send(side, range, last)
	local msn, offset, octets = range(10, 4):uint(), range(14, 4):uint(), range(18):bytes()
	if offset == 0 and last then
		return octets
	end
	local parts = side.sends[msn] or ByteArray.new()
	if offset ~= parts:len() then
		return nil
	end
	parts:append(octets)
	side.sends[msn] = not last and parts or nil
	return last and parts or nil
end

local function send(side, peer, range, last, frame)
	local octets = range:len() > 18 and whole_send(side, range, last)
	if not octets or word_at(octets, 4) ~= 2 or octets:len() < 16 then
		return nil
	end
	local found = { octets = octets }
	local whole = octets:tvb("Send")
	local header = read_header(whole:range())
	if not header then
		return found
	end
	local payload = octets:len() > header.size and octets:subset(header.size, octets:len() - header.size) or ByteArray.new()
	if header.proc == DONE then
		found.done_for = peer.replies[header.xid]
	end
	found.message = message_of(side, peer, header, payload, frame)
	return found
end

local function segment(side, peer, range, frame)
	local control, opcode = range(0, 1):uint(), range(1, 1):uint() % 16
	local last = control % 0x80 >= 0x40
	if control >= 0x80 then
		return tagged(side, peer, opcode, range, last)
	elseif opcode == 1 then
		return read_request(side, range)
	elseif opcode >= 3 and opcode <= 6 then
		return send(side, peer, range, last, frame)
	end
end

-- What is to be shown of a frame: a list of { octets, message, header_in, done_for }.
local function first_look(pinfo, lengths)
	local side, peer = sides(pinfo)
	local found = {}
	for _, length in ipairs(lengths) do
		local tvb = length.source
		if tvb:len() >= length.offset + 2 + length.value and length.value >= 14 then
			found[#found + 1] = segment(side, peer, tvb(length.offset + 2, length.value), pinfo.number)
		end
	end
	return found
end

---------------------------------------------------------------------------------------------------
-- Showing it

local function summary(header)
	local text = (PROCS[header.proc] or "procedure " .. header.proc)
	if header.proc == ERROR then
		text = text .. " " .. (ERRORS[header.err] or header.err)
	elseif header.proc == OPTIONAL then
		text = text .. " " .. (OPERATIONS[header.opttype] or header.opttype)
	end
	return string.format("%s XID 0x%08x", text, header.xid)
end

local function show_header(found, pinfo, root)
	local range = found.octets:tvb("RPC-over-RDMA message"):range()
	local header = read_header(range)
	local tree = root:add(rpcrdma2, header and range(0, header.size) or range)
	if not header then
		tree:add_proto_expert_info(malformed)
	end
	read_header(range, tree)
	if found.done_for then
		tree:add(f.of, found.done_for):set_generated()
	end
	pinfo.cols.protocol = "RPCoRDMA2"
	pinfo.cols.info = header and summary(header) or "Malformed"
	if header then
		tree:append_text(", " .. summary(header))
	end
end

function rpcrdma2.dissector(_, pinfo, root)
	local lengths = { ulpdu_length() }
	if #lengths == 0 then
		return
	end
	if not pinfo.visited then
		frames[pinfo.number] = first_look(pinfo, lengths)
	end
	for _, found in ipairs(frames[pinfo.number] or {}) do
		if found.octets then
			show_header(found, pinfo, root)
		elseif found.header_in then
			root:add(rpcrdma2, "RPC-over-RDMA Version 2, all Read chunks pulled"):add(f.from, found.header_in)
		end
		if found.message then
			Dissector.get("rpc"):call(found.message:tvb("RPC message"), pinfo, root)
		end
	end
end

register_postdissector(rpcrdma2, true)
