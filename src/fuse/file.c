/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse/file.h"

#include "fuse/fuse_private.h"
#include "fuse/silly.h"

struct rr_fuse_file *
rr_fuse_file_new(struct rr_fuse *fuse, struct rr_fuse_node *node, uint32_t access)
{
	struct rr_fuse_file *file = rr_alloc(fuse->env, sizeof(*file));

	if (!file)
		return NULL;
	file->fuse = fuse;
	file->node = rr_fuse_node_hold(node);
	file->number = ++fuse->files.last;
	file->holders = 1;
	file->access = access;
	rr_map_add(&fuse->files.map, &file->link, file->number);
	rr_list_append(&node->files, &file->of_node);
	fuse->files.count++;
	return file;
}

struct rr_fuse_file *
rr_fuse_file_find(const struct rr_fuse *fuse, uint64_t number, const struct rr_fuse_node *node)
{
	struct rr_map_link *link = rr_map_find(&fuse->files.map, number);
	struct rr_fuse_file *file = link ? rr_container(link, struct rr_fuse_file, link) : NULL;

	return file && file->node == node && !file->closed ? file : NULL;
}

struct rr_fuse_file *
rr_fuse_file_with(const struct rr_fuse_node *node, uint32_t access)
{
	rr_list_for_each (link, &node->files) {
		struct rr_fuse_file *file = rr_container(link, struct rr_fuse_file, of_node);

		if (file->open && (file->access & access) == access)
			return file;
	}
	return NULL;
}

bool
rr_fuse_file_is_open(const struct rr_fuse_node *node)
{
	rr_list_for_each (link, &node->files)
		if (!rr_container(link, struct rr_fuse_file, of_node)->closed)
			return true;
	return false;
}

void
rr_fuse_file_close(struct rr_fuse_file *file)
{
	file->closed = true;
	if (file->node->silly && !rr_fuse_file_is_open(file->node))
		rr_fuse_silly_remove(file->node);
	rr_fuse_file_release(file);
}

struct rr_fuse_file *
rr_fuse_file_hold(struct rr_fuse_file *file)
{
	file->holders++;
	return file;
}

void
rr_fuse_file_release(struct rr_fuse_file *file)
{
	struct rr_fuse *fuse;
	struct rr_fuse_node *node;

	if (!file || --file->holders > 0)
		return;
	fuse = file->fuse;
	node = file->node;
	rr_map_remove(&fuse->files.map, &file->link);
	rr_list_remove(&file->of_node);
	fuse->files.count--;
	rr_vfs_close(fuse->config.vfs, file->open, NULL);
	rr_free(fuse->env, file->listing);
	rr_free(fuse->env, file);
	rr_fuse_node_release(node);
}
