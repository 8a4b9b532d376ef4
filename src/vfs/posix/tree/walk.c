/* SPDX-License-Identifier: BSD-3-Clause */
/* This file walks through the directories of an export, step by step, for a search (walk.h). */
#include "vfs/posix/tree/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

/* Octets of entries that one step reads, and about the greatest rr_search.pending. */
enum { ENTRIES_SIZE = 32768, PENDING_MAX = 8 << 20 };

/* Flags for opening a directory in order to read its entries. */
enum { TO_READ = O_RDONLY | O_DIRECTORY | O_NONBLOCK };

/* A directory that is still to be read, in the directory of a frame. */
struct walk_below {
	struct rr_list link;
	char name[];
};

/* A directory that the walk is in: the innermost one, or one above it. */
struct walk_frame {
	struct rr_list link;  /* in rr_search.frames, the innermost first */
	struct rr_list below; /* list of struct walk_below */
	struct rr_handle_id id;
	uint64_t key;   /* rr_seen_key() */
	uint32_t depth; /* 0: the export's root */
	char name[];    /* its name in the directory above */
};

/* Returns the frame of the directory that the walk is in, or NULL after the walk has left the root. */
static struct walk_frame *
walk_frame_innermost(const struct rr_search *search)
{
	if (rr_list_empty(&search->frames))
		return NULL;
	return rr_container(search->frames.next, struct walk_frame, link);
}

/* Frees the note of a directory that was still to be read, and subtracts its memory from search->pending. */
static void
walk_below_free(struct rr_tree *tree, struct walk_below *below)
{
	tree->core->search.pending -= sizeof(*below) + strlen(below->name);
	rr_free(tree->env, below);
}

/* Removes and frees a frame, with its list of directories that were still to be read. */
static void
walk_frame_drop(struct rr_tree *tree, struct walk_frame *frame)
{
	rr_list_for_each (link, &frame->below)
		walk_below_free(tree, rr_container(link, struct walk_below, link));
	rr_list_remove(&frame->link);
	rr_free(tree->env, frame);
}

/* Makes fd the descriptor of the directory that the walk reads, and closes the descriptor that the walk had
 * before. fd -1 means that no directory is open. */
static void
walk_set_fd(struct rr_search *search, int fd)
{
	if (search->fd >= 0)
		close(search->fd);
	search->fd = fd;
}

/* Notes that the walk had to leave something out because of this error (an errno), where a later walk may see
 * it (rr_tree_is_passing()). After any other error nothing is noted: no path leads to an object there,
 * either, so the walk is complete without it. */
static void
walk_left_out(struct rr_search *search, int error)
{
	if (!rr_tree_is_passing(error))
		return;
	search->complete = false;
	search->hindered = true;
}

/* Enters the directory of fd: makes a frame for it, which becomes the innermost one, and takes fd, from which
 * the directory's entries are read next. Returns false where there is no memory, with fd closed. */
static bool
walk_frame_push(struct rr_tree *tree, const char *name, int fd, const struct rr_handle_id *id)
{
	struct rr_search *search = &tree->core->search;
	const struct walk_frame *above = walk_frame_innermost(search);
	struct walk_frame *frame = rr_alloc(tree->env, sizeof(*frame) + strlen(name) + 1);

	if (!frame) {
		close(fd);
		walk_left_out(search, ENOMEM);
		return false;
	}
	rr_list_init(&frame->below);
	frame->id = *id;
	frame->key = rr_seen_key(id);
	frame->depth = above ? above->depth + 1 : 0;
	memcpy(frame->name, name, strlen(name) + 1);
	rr_list_prepend(&search->frames, &frame->link);
	walk_set_fd(search, fd);
	search->reading = true;
	return true;
}

/* Frees all frames (the directories that the walk is in), and closes the directory that the walk has open. */
static void
walk_clear(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;
	struct walk_frame *frame;

	while ((frame = walk_frame_innermost(search)))
		walk_frame_drop(tree, frame);
	walk_set_fd(search, -1);
	search->reading = false;
}

/* Opens the object at path below the directory "directory" with flags. Returns the descriptor, with the
 * object's identity in *id. Where that is not possible, returns -1 and notes what was left out. */
static int
walk_open(struct rr_tree *tree, int directory, const char *path, uint64_t flags, struct rr_handle_id *id)
{
	struct rr_search *search = &tree->core->search;
	int fd = rr_tree_beneath(tree, directory, path, flags), error;
	struct statx st;

	error = fd < 0 ? errno : rr_tree_stat(tree, search->root, fd, &st);
	if (error) {
		if (fd >= 0)
			close(fd);
		walk_left_out(search, error);
		return -1;
	}
	*id = rr_tree_id(tree, search->root, &st);
	return fd;
}

void
rr_tree_walk_begin(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;
	struct rr_handle_id id;
	int fd;

	/* If the root cannot be opened, there is no frame, and the first step of the walk is its end. */
	walk_clear(tree);
	search->hindered = false;
	fd = walk_open(tree, search->root->node->path_fd, "", TO_READ, &id);
	search->complete = fd >= 0 && walk_frame_push(tree, "", fd, &id);
}

void
rr_tree_walk_end(struct rr_tree *tree)
{
	walk_clear(tree);
	tree->core->search.root = NULL;
}

/* Tells whether the walk is to enter this entry of a directory at this depth: the entry may be a directory
 * and, where the walk goes along the hints, its name has the hint of that depth, so that the object may lie
 * below. */
static bool
walk_leads_on(const struct rr_tree *tree, uint32_t depth, const struct dirent64 *entry)
{
	const struct rr_search *search = &tree->core->search;
	const struct rr_handle_place *hints = &search->hints;
	uint64_t hash;

	if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) || depth >= RR_HANDLE_DEPTH_MAX)
		return false;
	if (!search->hinted)
		return true;
	/* An entry as deep as the object is the object or a sibling, so nothing is to be found below it:
	 * walk_is_wanted() compares the inode number of the entry. But where a file system is mounted on the
	 * entry, it has the inode number of the directory below the mount, so an object in another file
	 * system (device not 0) is only recognized by opening the entry. A depth of RR_HANDLE_DEPTH_MAX may
	 * stand for a greater one. */
	if (depth + (search->id.device == 0) >= hints->depth && hints->depth < RR_HANDLE_DEPTH_MAX)
		return false;
	/* Below the depth for which there are hints, every directory is entered. */
	hash = rr_handle_hash(&tree->core->keys, entry->d_name, strlen(entry->d_name));
	return depth >= rr_handle_hints(hints) || hints->hints[depth] == (uint8_t)hash;
}

/* Notes the name of a directory below that of frame, to be read later. Where there is no memory or there are
 * too many such names, the directory is left out, and the walk is marked as not complete. For want of memory
 * alone it is also marked as hindered, because the next walk may find more memory. */
static void
walk_read_later(struct rr_tree *tree, struct walk_frame *frame, const char *name)
{
	struct rr_search *search = &tree->core->search;
	size_t length = strlen(name);
	struct walk_below *below = NULL;

	if (search->pending <= PENDING_MAX)
		below = rr_alloc(tree->env, sizeof(*below) + length + 1);
	if (!below) {
		search->complete = false;
		search->hindered |= search->pending <= PENDING_MAX;
		return;
	}
	memcpy(below->name, name, length + 1);
	rr_list_append(&frame->below, &below->link);
	search->pending += sizeof(*below) + length;
}

/* Tells whether an entry of the directory of frame is the object that is searched for. The entry is opened
 * only where its inode number is the right one. Where it cannot be opened, walk_open() notes that the walk
 * left it out. */
static bool
walk_is_wanted(struct rr_tree *tree, const struct walk_frame *frame, const struct dirent64 *entry)
{
	struct rr_search *search = &tree->core->search;
	struct rr_handle_id id;
	int fd;

	if (entry->d_ino != search->id.inode || frame->id.device != search->id.device)
		return false;
	fd = walk_open(tree, search->fd, entry->d_name, O_PATH, &id);
	if (fd < 0)
		return false;
	close(fd);
	return rr_handle_same(&id, &search->id);
}

/* Looks at an entry of the directory of frame, and notes it as seen. Where the entry is the object that is
 * searched for, sets search->found. Where it may be a directory below which the object lies, notes its name,
 * so that it is read later. After the object was found, the entry is only noted as seen. Skips "." and "..".
 */
static void
walk_look_at(struct rr_tree *tree, struct walk_frame *frame, const struct dirent64 *entry)
{
	struct rr_search *search = &tree->core->search;
	struct rr_handle_id id = frame->id;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return;
	search->left--;
	search->entries++;
	id.inode = entry->d_ino;
	rr_seen_note(&tree->core->seen, rr_seen_key(&id), frame->key, entry->d_name);
	rr_search_note(tree, search->root, entry->d_ino);
	if (search->found)
		return;
	search->found = walk_is_wanted(tree, frame, entry);
	if (!search->found && walk_leads_on(tree, frame->depth, entry))
		walk_read_later(tree, frame, entry->d_name);
}

/* Reads some entries of the innermost directory, which is that of frame, and looks at each, until the search
 * has looked at as many entries as it may. Notes in search->reading whether there may be more to read. Where
 * the directory cannot be read, the walk is not complete, because its objects can be reached all the same. A
 * directory that was removed meanwhile (ENOENT) has none. */
static void
walk_read(struct rr_tree *tree, struct walk_frame *frame)
{
	_Alignas(struct dirent64) char entries[ENTRIES_SIZE];
	struct rr_search *search = &tree->core->search;
	bool was_locked = rr_tree_out(tree);
	ssize_t size = getdents64(search->fd, (void *)entries, sizeof(entries));

	rr_tree_in(tree, was_locked);
	if (size < 0) {
		search->complete = search->complete && errno == ENOENT;
		walk_left_out(search, errno);
	}
	search->reading = size > 0;
	for (ssize_t at = 0; at < size && search->left > 0;) {
		const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);

		walk_look_at(tree, frame, entry);
		at += entry->d_reclen;
	}
}

/* Enters the directory with this name below that of frame. If it is the object that is searched for, sets
 * search->found instead. A directory that cannot be opened is passed over (walk_left_out()). */
static void
walk_enter(struct rr_tree *tree, struct walk_frame *frame, const char *name)
{
	struct rr_search *search = &tree->core->search;
	struct rr_handle_id id;
	int fd = walk_open(tree, search->fd, name, TO_READ, &id);

	if (fd < 0)
		return;
	rr_seen_note(&tree->core->seen, rr_seen_key(&id), frame->key, name);
	rr_search_note(tree, search->root, id.inode);
	search->found = rr_handle_same(&id, &search->id);
	if (search->found)
		close(fd);
	else
		walk_frame_push(tree, name, fd, &id);
}

/* Opens the directory of frame again, by the path from the root at which it was seen, and makes it the one
 * that the walk reads. Returns false where the directory cannot be opened, or the path leads to another
 * directory by now, which the walk must not read. */
static bool
walk_reopen(struct rr_tree *tree, const struct walk_frame *frame)
{
	struct rr_search *search = &tree->core->search;
	char *path = frame->depth > 0 ? rr_seen_path(&tree->core->seen, frame->key,
						rr_seen_key(&search->root->node->id))
				      : rr_strdup(tree->env, "");
	struct rr_handle_id id;
	int fd = path ? walk_open(tree, search->root->node->path_fd, path, TO_READ, &id) : -1;

	rr_free(tree->env, path);
	walk_set_fd(search, fd);
	return fd >= 0 && rr_handle_same(&id, &frame->id);
}

/* Leaves the directory of frame for the one above it: drops the frame, and opens "..". Where the frame's
 * directory has been moved meanwhile, so that ".." is another directory, opens the directory of the next
 * frame by its path. Where that is not found, either, drops its frame, too, goes on to the next one above,
 * and marks the walk as not complete. */
static void
walk_leave(struct rr_tree *tree, struct walk_frame *frame)
{
	struct rr_search *search = &tree->core->search;
	int fd = frame->depth > 0 ? openat(search->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct rr_handle_id id;
	struct statx st;
	bool is_above;

	walk_frame_drop(tree, frame);
	frame = walk_frame_innermost(search);
	walk_set_fd(search, fd);
	if (!frame)
		return;
	is_above = fd >= 0 && rr_tree_stat(tree, search->root, fd, &st) == 0;
	if (is_above) {
		id = rr_tree_id(tree, search->root, &st);
		is_above = rr_handle_same(&id, &frame->id);
	}
	while (frame && !is_above) {
		is_above = walk_reopen(tree, frame);
		search->complete = search->complete && is_above;
		if (!is_above)
			walk_frame_drop(tree, frame);
		frame = walk_frame_innermost(search);
	}
}

bool
rr_tree_walk_step(struct rr_tree *tree)
{
	struct rr_search *search = &tree->core->search;
	struct walk_frame *frame = walk_frame_innermost(search);
	struct rr_list *link;

	if (!frame || search->left == 0)
		return false;
	if (search->reading) {
		walk_read(tree, frame);
		return true;
	}
	if (search->found)
		return false;
	link = rr_list_pop(&frame->below);
	if (!link) {
		walk_leave(tree, frame);
		return true;
	}
	walk_enter(tree, frame, rr_container(link, struct walk_below, link)->name);
	walk_below_free(tree, rr_container(link, struct walk_below, link));
	return true;
}
