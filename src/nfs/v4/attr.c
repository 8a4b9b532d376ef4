/* SPDX-License-Identifier: BSD-3-Clause */
/* This file names the attributes that the client asks for. */
#include "nfs/v4/private.h"

/* The bit of an attribute in its word of a bitmap. */
#define BIT(number) (UINT32_C(1) << (number) % 32)

/* The attributes of an object: the first and the second word of their bitmap. */
#define OBJECT_0                                                                                             \
	(BIT(FATTR4_TYPE) | BIT(FATTR4_CHANGE) | BIT(FATTR4_SIZE) | BIT(FATTR4_FSID) | BIT(FATTR4_FILEID))
#define OBJECT_1                                                                                             \
	(BIT(FATTR4_MODE) | BIT(FATTR4_NUMLINKS) | BIT(FATTR4_OWNER) | BIT(FATTR4_OWNER_GROUP) |             \
		BIT(FATTR4_RAWDEV) | BIT(FATTR4_SPACE_USED) | BIT(FATTR4_TIME_ACCESS) |                      \
		BIT(FATTR4_TIME_METADATA) | BIT(FATTR4_TIME_MODIFY))

/* Defines the bitmap rr_v4_attr_NAME of two words. */
#define MASK(name, first, second)                                                                            \
	static uint32_t name##_words[] = { first, second };                                                  \
	const bitmap4 rr_v4_attr_##name = { 2, name##_words };

MASK(object, OBJECT_0, OBJECT_1)
MASK(entry, OBJECT_0 | BIT(FATTR4_RDATTR_ERROR) | BIT(FATTR4_FILEHANDLE),
	OBJECT_1 | BIT(FATTR4_MOUNTED_ON_FILEID))
MASK(limits, BIT(FATTR4_LEASE_TIME) | BIT(FATTR4_MAXFILESIZE) | BIT(FATTR4_MAXREAD) | BIT(FATTR4_MAXWRITE), 0)
MASK(space, BIT(FATTR4_FILES_AVAIL) | BIT(FATTR4_FILES_FREE) | BIT(FATTR4_FILES_TOTAL),
	BIT(FATTR4_SPACE_AVAIL) | BIT(FATTR4_SPACE_FREE) | BIT(FATTR4_SPACE_TOTAL))
