/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/library.h"

#include <rpcrdma/error.h>

#include "base/library.h"

#define AT(member) offsetof(struct rr_verbs_library, member)

static const struct rr_library_symbol ibverbs_symbols[] = {
	{ "ibv_get_device_list", AT(get_device_list) },
	{ "ibv_free_device_list", AT(free_device_list) },
	{ "ibv_open_device", AT(open_device) },
	{ "ibv_close_device", AT(close_device) },
	{ "ibv_query_device", AT(query_device) },
	{ "ibv_query_port", AT(query_port_) },
	{ "ibv_query_gid", AT(query_gid) },
	{ "ibv_get_async_event", AT(get_async_event) },
	{ "ibv_ack_async_event", AT(ack_async_event) },
	{ "ibv_alloc_pd", AT(alloc_pd) },
	{ "ibv_dealloc_pd", AT(dealloc_pd) },
	{ "ibv_reg_mr", AT(reg_mr_) },
	{ "ibv_dereg_mr", AT(dereg_mr) },
	{ "ibv_create_comp_channel", AT(create_comp_channel) },
	{ "ibv_destroy_comp_channel", AT(destroy_comp_channel) },
	{ "ibv_create_cq", AT(create_cq) },
	{ "ibv_resize_cq", AT(resize_cq) },
	{ "ibv_destroy_cq", AT(destroy_cq) },
	{ "ibv_get_cq_event", AT(get_cq_event) },
	{ "ibv_ack_cq_events", AT(ack_cq_events) },
	{ "ibv_create_srq", AT(create_srq) },
	{ "ibv_destroy_srq", AT(destroy_srq) },
	{ "ibv_create_qp", AT(create_qp) },
	{ "ibv_modify_qp", AT(modify_qp) },
	{ "ibv_destroy_qp", AT(destroy_qp) },
	{ "ibv_wc_status_str", AT(wc_status_str) },
};

static const struct rr_library_symbol rdmacm_symbols[] = {
	{ "rdma_create_event_channel", AT(create_event_channel) },
	{ "rdma_destroy_event_channel", AT(destroy_event_channel) },
	{ "rdma_create_id", AT(create_id) },
	{ "rdma_destroy_id", AT(destroy_id) },
	{ "rdma_bind_addr", AT(bind_addr) },
	{ "rdma_listen", AT(listen) },
	{ "rdma_resolve_addr", AT(resolve_addr) },
	{ "rdma_resolve_route", AT(resolve_route) },
	{ "rdma_connect", AT(connect) },
	{ "rdma_establish", AT(establish) },
	{ "rdma_accept", AT(accept) },
	{ "rdma_reject", AT(reject) },
	{ "rdma_disconnect", AT(disconnect) },
	{ "rdma_init_qp_attr", AT(init_qp_attr) },
	{ "rdma_get_cm_event", AT(get_cm_event) },
	{ "rdma_ack_cm_event", AT(ack_cm_event) },
	{ "rdma_event_str", AT(event_str) },
};

static const struct rr_library library_parts[] = {
	{ "libibverbs.so.1", "RDMA adapters need libibverbs.so.1", "libibverbs1", true, ibverbs_symbols,
		sizeof(ibverbs_symbols) / sizeof(ibverbs_symbols[0]) },
	{ "librdmacm.so.1", "RDMA adapters need librdmacm.so.1", "librdmacm1", true, rdmacm_symbols,
		sizeof(rdmacm_symbols) / sizeof(rdmacm_symbols[0]) },
};

int
rr_verbs_library_load(struct rr_verbs_library *library, struct rr_text *text)
{
	for (int i = 0; i < 2; i++)
		if (!rr_library_load(&library_parts[i], library, text))
			return -RPCRDMA_ERR_NOTSUP;
	return 0;
}
