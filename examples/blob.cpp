/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blob [URL]: a client and a server of blob.x in one process, with <rpcrdma/rpcrdma.hpp>: 1 MiB is put, and a
 * coroutine gets it, straight into the client's memory. With a URL of a directory of an NFS server, a file is
 * written there, read, listed and removed.
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <rpcrdma/rpcrdma.hpp>
#include <thread>

#include "blob.h"

using octets = std::vector<std::byte>;

static octets
pattern(std::size_t size)
{
	octets made(size);

	for (std::size_t i = 0; i < size; i++)
		made[i] = static_cast<std::byte>(i ^ i >> 8);
	return made;
}

static rpcrdma_engine_config
engine_config()
{
	auto config = rpcrdma::defaults<rpcrdma_engine_config>();

	config.message_max = 2 << 20;
	return config;
}

static rpcrdma_client_config
client_config(std::uint16_t port)
{
	auto config = rpcrdma::defaults<rpcrdma_client_config>();

	config.port = port;
	return config;
}

/* A server of blob.x, in a thread of its own, until it is destroyed. */
class store
{
      public:
	store() : service_(BLOB_V1_program)
	{
		service_.on<put_args, std::uint32_t>(
			BLOB_PUT, [this](rpcrdma_request *, const put_args &args, std::uint32_t &stored) {
				auto data = rpcrdma::span(args.data);

				kept_.assign(data.begin(), data.end());
				stored = args.data.length;
				return RPCRDMA_HANDLED;
			});
		service_.on<void, get_result>(BLOB_GET, [this](rpcrdma_request *, get_result &result) {
			result.data = rpcrdma::bytes(kept_);
			return RPCRDMA_HANDLED;
		});
		engine_ = std::make_unique<rpcrdma::engine>(engine_config());
		server_ = std::make_unique<rpcrdma::server>(*engine_, service_);
		port = server_->listen(RPCRDMA_TRANSPORT_RDMA);
		thread_ = std::jthread([this](const std::stop_token &stop) {
			engine_->run_until([&] { return stop.stop_requested(); });
		});
	}
	~store()
	{
		thread_.request_stop();
		engine_->wake();
		thread_.join();
	}
	std::uint16_t port;

      private:
	octets kept_;
	rpcrdma::service service_;
	std::unique_ptr<rpcrdma::engine> engine_;
	std::unique_ptr<rpcrdma::server> server_;
	std::jthread thread_;
};

static rpcrdma::detached
get(const rpcrdma::client &client, octets &memory, octets &keep, std::uint32_t &placed, int &result)
{
	const rpcrdma_sink sinks[] = { rpcrdma::sink(memory) };
	get_result got = {};
	rpcrdma_call_config config = {};

	config.program = &BLOB_V1_program;
	config.procedure = BLOB_GET;
	config.result = &got;
	config.sinks = sinks;
	config.sink_count = 1;
	config.keep = keep.data();
	config.keep_size = static_cast<std::uint32_t>(keep.size());
	result = co_await client.start(config);
	placed = got.data.data == memory.data() ? got.data.length : 0;
}

static bool
call_the_store()
{
	store store;
	rpcrdma::engine engine(engine_config());
	rpcrdma::client client(engine, client_config(store.port));
	const octets sent = pattern(1 << 20);
	octets memory(sent.size()), keep(8192);
	const put_args args = { rpcrdma::bytes(sent) };
	std::uint32_t stored = 0, placed = 0;
	int result = 1;

	client.call(BLOB_V1_call_BLOB_PUT, &args, &stored);
	get(client, memory, keep, placed, result);
	engine.run_until([&] { return result <= 0; });
	rpcrdma::check(result, rpcrdma_client_error(client.get()));
	std::printf("put %u, placed %u\n", stored, placed);
	return stored == sent.size() && placed == sent.size() && memory == sent;
}

/* Calls without a server: the error has a category, and a text that names the peer. */
static bool
call_nobody()
{
	rpcrdma::engine engine;

	try {
		rpcrdma::client client(engine, client_config(1));
	} catch (const rpcrdma::error &error) {
		return error.code() == rpcrdma::code(-RPCRDMA_ERR_REFUSED) &&
		       std::strstr(error.what(), "127.0.0.1:1");
	}
	return false;
}

/* Gives user 1234 the right to read the file, if the file system there keeps access lists. */
static bool
use_lists(const rpcrdma::nfs &nfs, const rpcrdma_nfs_handle &file)
{
	const std::vector<rpcrdma_nfs_acl_entry> list = { { RPCRDMA_NFS_ACL_USER_OBJ, 6, 0 },
		{ RPCRDMA_NFS_ACL_USER, 4, 1234 }, { RPCRDMA_NFS_ACL_GROUP_OBJ, 0, 0 },
		{ RPCRDMA_NFS_ACL_MASK, 4, 0 }, { RPCRDMA_NFS_ACL_OTHER, 0, 0 } };
	auto same = [](const rpcrdma_nfs_acl_entry &a, const rpcrdma_nfs_acl_entry &b) {
		return a.tag == b.tag && a.perm == b.perm && a.id == b.id;
	};

	try {
		nfs.set_access_list(file, list);
	} catch (const rpcrdma::error &error) {
		return error.code() == std::error_code(RPCRDMA_NFS_NOTSUPP, rpcrdma::nfs_category());
	}
	auto got = nfs.access_list(file);
	return std::equal(got.begin(), got.end(), list.begin(), list.end(), same) &&
	       nfs.inherited_list(file).empty();
}

static bool
use_files(const char *url)
{
	rpcrdma::engine engine;
	rpcrdma::nfs nfs(engine, url);
	const octets sent = pattern(300000);
	octets memory(sent.size() + 1);
	rpcrdma_nfs_object directory = nfs.find("");
	rpcrdma_nfs_object file = nfs.create(directory.handle, "from C++");

	nfs.write(file.handle, sent);
	auto got = nfs.read(file.handle, memory);
	auto names = nfs.list(directory.handle);
	bool listed = std::find(names.begin(), names.end(), "from C++") != names.end();
	listed = listed && use_lists(nfs, file.handle);
	nfs.remove(directory.handle, "from C++");
	try {
		nfs.find("from C++");
	} catch (const rpcrdma::error &error) {
		return listed && std::equal(got.begin(), got.end(), sent.begin(), sent.end()) &&
		       error.code() == std::error_code(RPCRDMA_NFS_NOENT, rpcrdma::nfs_category());
	}
	return false;
}

int
main(int argc, char **argv)
{
	try {
		bool good = call_the_store() && call_nobody() && (argc < 2 || use_files(argv[1]));

		std::puts(good ? "good" : "bad");
		return good ? 0 : 1;
	} catch (const std::exception &error) {
		std::fprintf(stderr, "blob: %s\n", error.what());
		return 1;
	}
}
