/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPCRDMA_RPCRDMA_HPP
#define RPCRDMA_RPCRDMA_HPP

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <rpcrdma/client.h>
#include <rpcrdma/engine.h>
#include <rpcrdma/nfs.h>
#include <rpcrdma/server.h>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

/*
 * The library for C++20, in headers alone: objects that free what they own, std::span for memory, and
 * exceptions for errors. Everything is a thin layer on the functions of C, whose comments hold here too;
 * get() gives the handle for what has no function of its own here. Link with what `pkg-config --libs rpcrdma`
 * says.
 *
 * Ownership: an object owns its handle, can be moved, and not copied. An engine must outlive the clients,
 * servers and connections to NFS servers that are made on it: they refer to it.
 *
 * Errors: functions throw rpcrdma::error, a std::system_error with the text of the handle. Its code() is of
 * rpcrdma::category(), with an enum rpcrdma_error as its value, or of rpcrdma::nfs_category(), with an enum
 * rpcrdma_nfs_status, where an NFS server refused something.
 *
 * Threads: as in C: an engine, with all that is made on it, belongs to one thread at a time.
 */
namespace rpcrdma
{

/* ---- Errors ---- */

namespace detail
{
struct category final : std::error_category {
	const char *
	name() const noexcept override
	{
		return "rpcrdma";
	}
	std::string
	message(int value) const override
	{
		return rpcrdma_strerror(-value);
	}
};

struct nfs_category final : std::error_category {
	const char *
	name() const noexcept override
	{
		return "rpcrdma-nfs";
	}
	std::string
	message(int value) const override
	{
		return rpcrdma_nfs_status_text(value);
	}
};
} // namespace detail

/* The values are those of enum rpcrdma_error. */
inline const std::error_category &
category() noexcept
{
	static const detail::category only;

	return only;
}

/* The values are those of enum rpcrdma_nfs_status. */
inline const std::error_category &
nfs_category() noexcept
{
	static const detail::nfs_category only;

	return only;
}

class error : public std::system_error
{
      public:
	using std::system_error::system_error;
};

/* Returns the error_code for a result of the C functions: 0 is success, a negative result is an error of the
 * library, a positive one a status of an NFS server. */
inline std::error_code
code(int result) noexcept
{
	return result > 0 ? std::error_code(result, nfs_category()) : std::error_code(-result, category());
}

/* Throws rpcrdma::error with text if the result of a C function is not 0. */
inline void
check(int result, const char *text)
{
	if (result != 0)
		throw error(code(result), text);
}

/* ---- Memory ---- */

inline rpcrdma_bytes
bytes(std::span<const std::byte> memory) noexcept
{
	return { memory.data(), static_cast<std::uint32_t>(memory.size()) };
}

inline std::span<const std::byte>
span(const rpcrdma_bytes &octets) noexcept
{
	return { static_cast<const std::byte *>(octets.data), octets.length };
}

inline rpcrdma_sink
sink(std::span<std::byte> memory) noexcept
{
	return { memory.data(), static_cast<std::uint32_t>(memory.size()) };
}

/* ---- Configs ---- */

/*
 * Returns a structure of the library, a config for example, whose size is set and everything else zero, the
 * default:
 *     auto config = rpcrdma::defaults<rpcrdma_client_config>();
 *     config.port = 20049;
 * Designated initializers do the same; g++ -Wextra warns of each member that these leave out.
 */
template <class Structure>
Structure
defaults() noexcept
{
	Structure structure = {};

	structure.size = sizeof(structure);
	return structure;
}

/* ---- The engine ---- */

namespace detail
{
/* A deleter for std::unique_ptr: frees a handle by the C function Function. */
template <auto Function> struct frees {
	template <class Handle>
	void
	operator()(Handle *handle) const noexcept
	{
		Function(handle);
	}
};
} // namespace detail

class engine
{
      public:
	explicit engine(rpcrdma_engine_config config = {})
	{
		rpcrdma_engine *made = nullptr;

		config.size = sizeof(config);
		int result = rpcrdma_engine_new(&config, &made);
		check(result, "rpcrdma::engine");
		handle_.reset(made);
	}

	rpcrdma_engine *
	get() const noexcept
	{
		return handle_.get();
	}

	/* Runs one turn of the engine's loop, which waits for limit at most, or, if limit is negative, until
	 * something happens. Returns whether anything was done. */
	bool
	turn(std::chrono::nanoseconds limit = std::chrono::nanoseconds(-1))
	{
		int done = rpcrdma_engine_turn(get(), limit.count());

		if (done < 0)
			check(done, rpcrdma_engine_error(get()));
		return done > 0;
	}

	/* Turns the engine's loop until condition() returns true. */
	template <class Condition>
	void
	run_until(Condition &&condition)
	{
		while (!condition())
			turn();
	}

	int
	fd() const noexcept
	{
		return rpcrdma_engine_fd(get());
	}

	std::chrono::nanoseconds
	due() const noexcept
	{
		return std::chrono::nanoseconds(rpcrdma_engine_due(get()));
	}

	/* Ends the wait of the turn under way or of the next turn. Any thread may call it. */
	void
	wake() const noexcept
	{
		rpcrdma_engine_wake(get());
	}

      private:
	std::unique_ptr<rpcrdma_engine, detail::frees<rpcrdma_engine_free>> handle_;
};

/* ---- Clients ---- */

class client
{
      public:
	/* Waits until the connection is there. */
	client(engine &engine, rpcrdma_client_config config)
	{
		rpcrdma_client *made = nullptr;

		config.size = sizeof(config);
		check(rpcrdma_client_connect(engine.get(), &config, &made),
			rpcrdma_engine_error(engine.get()));
		handle_.reset(made);
	}

	rpcrdma_client *
	get() const noexcept
	{
		return handle_.get();
	}

	/*
	 * Calls, and waits for the result, by a function that `rpcrdma xdr` wrote:
	 *     client.call(BLOB_V1_call_BLOB_PUT, &args, &stored);
	 *     client.call(BLOB_V1_call_BLOB_GET, &result, config);
	 * The config of the call may be left out.
	 */
	template <class Function, class... Arguments>
	void
	call(Function *function, Arguments... arguments) const
	{
		if constexpr (std::is_invocable_v<Function *, rpcrdma_client *, Arguments...,
				      const rpcrdma_call_config *>)
			finish(function(get(), arguments..., nullptr));
		else
			with_config(function, arguments...);
	}

	rpcrdma_counters
	counters() const
	{
		rpcrdma_counters counters = {};

		counters.size = sizeof(counters);
		check(rpcrdma_client_counters(get(), &counters), "rpcrdma::client::counters");
		return counters;
	}

	/* A call that is waited for by co_await, which gives 0 or the negative error: see start(). */
	class awaiting
	{
	      public:
		awaiting(rpcrdma_client *client, const rpcrdma_call_config &config)
		    : client_(client), config_(config)
		{
		}
		bool
		await_ready() const noexcept
		{
			return false;
		}
		bool
		await_suspend(std::coroutine_handle<> waiting) noexcept
		{
			waiting_ = waiting;
			config_.size = sizeof(config_);
			config_.done = done;
			config_.ctx = this;
			result_ = rpcrdma_client_call(client_, &config_, nullptr);
			/* If the call was not started, done() will not come: the coroutine goes on at once.
			 */
			return result_ == 0;
		}
		int
		await_resume() const noexcept
		{
			return result_;
		}

	      private:
		static void
		done(void *ctx, rpcrdma_call *, int result)
		{
			auto *self = static_cast<awaiting *>(ctx);

			self->result_ = result;
			self->waiting_.resume();
		}
		rpcrdma_client *client_;
		rpcrdma_call_config config_;
		std::coroutine_handle<> waiting_;
		int result_ = 0;
	};

	/* Inside a coroutine: `int result = co_await client.start(config)`. The engine's turn goes on with
	 * the coroutine when the call is done. The client must outlive the call. */
	awaiting
	start(const rpcrdma_call_config &config) const noexcept
	{
		return { get(), config };
	}

      private:
	void
	finish(int result) const
	{
		if (result != 0)
			throw error(code(result), rpcrdma_client_error(get()));
	}

	/* These call a function of a procedure with one of args and result, or with both, and the config. */
	template <class Function, class First>
	void
	with_config(Function *function, First *argument, rpcrdma_call_config config) const
	{
		config.size = sizeof(config);
		finish(function(get(), argument, &config));
	}
	template <class Function, class First, class Second>
	void
	with_config(Function *function, First *args, Second *result, rpcrdma_call_config config) const
	{
		config.size = sizeof(config);
		finish(function(get(), args, result, &config));
	}

	std::unique_ptr<rpcrdma_client, detail::frees<rpcrdma_client_free>> handle_;
};

/* A coroutine that begins at once and whose end nobody waits for. An exception in it ends the program. */
struct detached {
	struct promise_type {
		detached
		get_return_object() const noexcept
		{
			return {};
		}
		std::suspend_never
		initial_suspend() const noexcept
		{
			return {};
		}
		std::suspend_never
		final_suspend() const noexcept
		{
			return {};
		}
		void
		return_void() const noexcept
		{
		}
		void
		unhandled_exception() const noexcept
		{
			std::terminate();
		}
	};
};

/* ---- Servers ---- */

/* A version of a program with handlers of C++. It must outlive its server, and stay where it is. */
class service
{
      public:
	using handler =
		std::function<rpcrdma_handled(rpcrdma_request *request, const void *args, void *result)>;

	explicit service(const rpcrdma_program &program)
	    : program_(&program), functions_(program.procedure_count), handlers_(program.procedure_count)
	{
	}
	service(const service &) = delete;
	service &operator=(const service &) = delete;

	/*
	 * Args and Result are the procedure's C types, or void. What the function throws is answered with
	 * SYSTEM_ERR: service.on<put_args, std::uint32_t>(BLOB_PUT,
	 *         [&](rpcrdma_request *request, const put_args &args, std::uint32_t &stored) { ... });
	 */
	template <class Args, class Result, class Function>
	void
	on(std::uint32_t procedure, Function function)
	{
		functions_.at(procedure) = [function](
						   rpcrdma_request *request, const void *args, void *result) {
			if constexpr (std::is_void_v<Args> && std::is_void_v<Result>)
				return function(request);
			else if constexpr (std::is_void_v<Args>)
				return function(request, *static_cast<Result *>(result));
			else if constexpr (std::is_void_v<Result>)
				return function(request, *static_cast<const Args *>(args));
			else
				return function(request, *static_cast<const Args *>(args),
					*static_cast<Result *>(result));
		};
		handlers_.at(procedure) = handle;
	}

	rpcrdma_service
	get() noexcept
	{
		return { program_, handlers_.data(), this, nullptr };
	}

      private:
	static rpcrdma_handled
	handle(void *ctx, rpcrdma_request *request, const void *args, void *result)
	{
		const auto *self = static_cast<const service *>(ctx);

		try {
			return self->functions_[rpcrdma_request_procedure(request)](request, args, result);
		} catch (...) {
			return RPCRDMA_HANDLE_SYSTEM_ERR;
		}
	}

	const rpcrdma_program *program_;
	std::vector<handler> functions_;
	std::vector<rpcrdma_handler *> handlers_;
};

class server
{
      public:
	server(engine &engine, service &service, rpcrdma_server_config config = {})
	{
		const rpcrdma_service given = service.get();
		rpcrdma_server *made = nullptr;

		config.size = sizeof(config);
		config.services = &given;
		config.service_count = 1;
		check(rpcrdma_server_new(engine.get(), &config, &made), rpcrdma_engine_error(engine.get()));
		handle_.reset(made);
	}

	rpcrdma_server *
	get() const noexcept
	{
		return handle_.get();
	}

	/* Serves at host and port, and returns the port: the system chooses one if port is 0. */
	std::uint16_t
	listen(rpcrdma_transport transport, const char *host = nullptr, std::uint16_t port = 0)
	{
		check(rpcrdma_server_listen(get(), transport, host, &port), rpcrdma_server_error(get()));
		return port;
	}

	void
	shutdown() noexcept
	{
		rpcrdma_server_shutdown(get());
	}

	bool
	idle() const noexcept
	{
		return rpcrdma_server_idle(get());
	}

      private:
	std::unique_ptr<rpcrdma_server, detail::frees<rpcrdma_server_free>> handle_;
};

/* ---- NFS ---- */

/* The directory of an NFS server that a URL names. Functions wait for the server. */
class nfs
{
      public:
	nfs(engine &engine, const std::string &url)
	{
		rpcrdma_nfs_config config = {};
		rpcrdma_nfs *made = nullptr;

		config.size = sizeof(config);
		config.url = url.c_str();
		check(rpcrdma_nfs_open(engine.get(), &config, &made), rpcrdma_engine_error(engine.get()));
		handle_.reset(made);
	}

	rpcrdma_nfs *
	get() const noexcept
	{
		return handle_.get();
	}

	/* Returns the object that path names below the directory of the URL, which "" names itself; symbolic
	 * links are followed. A path that leads out of it is an error. */
	rpcrdma_nfs_object
	find(const std::string &path) const
	{
		rpcrdma_nfs_object object = {};

		object.size = sizeof(object);
		finish(rpcrdma_nfs_find(get(), path.c_str(), true, &object));
		return object;
	}

	/* Makes a file in a directory and returns it; fails if the name exists. */
	rpcrdma_nfs_object
	create(const rpcrdma_nfs_handle &directory, const std::string &name) const
	{
		rpcrdma_nfs_object object = {};

		object.size = sizeof(object);
		finish(rpcrdma_nfs_create(get(), &directory, name.c_str(), nullptr, &object, nullptr));
		return object;
	}

	void
	remove(const rpcrdma_nfs_handle &directory, const std::string &name) const
	{
		finish(rpcrdma_nfs_remove(get(), &directory, name.c_str(), nullptr));
	}

	std::vector<std::string>
	list(const rpcrdma_nfs_handle &directory) const
	{
		std::vector<std::string> names;

		finish(rpcrdma_nfs_list(get(), &directory, add_name, &names));
		return names;
	}

	/* Returns the access list of an object, and the one that objects inherit that are made in a
	 * directory, which has no entries if there is none: see rpcrdma_nfs_get_acl(). */
	std::vector<rpcrdma_nfs_acl_entry>
	access_list(const rpcrdma_nfs_handle &object) const
	{
		return list_of(object, false);
	}

	std::vector<rpcrdma_nfs_acl_entry>
	inherited_list(const rpcrdma_nfs_handle &directory) const
	{
		return list_of(directory, true);
	}

	/* Set them; the other one of a directory stays as it is. */
	void
	set_access_list(
		const rpcrdma_nfs_handle &object, std::span<const rpcrdma_nfs_acl_entry> entries) const
	{
		const rpcrdma_nfs_acl list = acl(entries);

		finish(rpcrdma_nfs_set_acl(get(), &object, &list, nullptr, nullptr));
	}

	void
	set_inherited_list(
		const rpcrdma_nfs_handle &directory, std::span<const rpcrdma_nfs_acl_entry> entries) const
	{
		const rpcrdma_nfs_acl list = acl(entries);

		finish(rpcrdma_nfs_set_acl(get(), &directory, nullptr, &list, nullptr));
	}

	/* Reads from file at offset into memory, by RDMA Write if the transport has it. Returns the part of
	 * memory that was filled, which is shorter than memory only at the end of the file. */
	std::span<std::byte>
	read(const rpcrdma_nfs_handle &file, std::span<std::byte> memory, std::uint64_t offset = 0) const
	{
		rpcrdma_nfs_io io = transfer(file, memory.data(), memory.size(), offset);

		finish(rpcrdma_nfs_read(get(), &io, nullptr));
		return memory.first(io.moved);
	}

	/* Writes all of memory to file at offset, and returns when the server has stored it. */
	void
	write(const rpcrdma_nfs_handle &file, std::span<const std::byte> memory,
		std::uint64_t offset = 0) const
	{
		rpcrdma_nfs_io io =
			transfer(file, const_cast<std::byte *>(memory.data()), memory.size(), offset);

		io.stability = RPCRDMA_NFS_FILE_SYNC;
		finish(rpcrdma_nfs_write(get(), &io, nullptr));
	}

      private:
	void
	finish(int result) const
	{
		if (result != 0)
			throw error(code(result), rpcrdma_nfs_error(get()));
	}

	/* The library does not change the entries of a list that is set. */
	static rpcrdma_nfs_acl
	acl(std::span<const rpcrdma_nfs_acl_entry> entries)
	{
		if (entries.size() > RPCRDMA_NFS_ACL_MAX)
			throw error(code(-RPCRDMA_ERR_INVAL), "an access list with too many entries");
		return { const_cast<rpcrdma_nfs_acl_entry *>(entries.data()), 0,
			static_cast<std::uint32_t>(entries.size()) };
	}

	std::vector<rpcrdma_nfs_acl_entry>
	list_of(const rpcrdma_nfs_handle &object, bool inherited) const
	{
		std::vector<rpcrdma_nfs_acl_entry> entries(RPCRDMA_NFS_ACL_MAX);
		rpcrdma_nfs_acl list = { entries.data(), RPCRDMA_NFS_ACL_MAX, 0 };

		finish(rpcrdma_nfs_get_acl(get(), &object, inherited ? nullptr : &list,
			inherited ? &list : nullptr, nullptr, nullptr));
		entries.resize(list.count);
		return entries;
	}

	static int
	add_name(void *ctx, const rpcrdma_nfs_entry *entry)
	{
		try {
			static_cast<std::vector<std::string> *>(ctx)->emplace_back(entry->name);
		} catch (...) {
			return -RPCRDMA_ERR_NOMEM;
		}
		return 0;
	}

	/* A piece of file data has 32 bits of length. */
	static rpcrdma_nfs_io
	transfer(const rpcrdma_nfs_handle &file, void *data, std::size_t length, std::uint64_t offset)
	{
		rpcrdma_nfs_io io = {};

		if (length > UINT32_MAX)
			throw error(code(-RPCRDMA_ERR_LIMIT), "more than 4 GiB at a time");
		io.size = sizeof(io);
		io.file = file;
		io.offset = offset;
		io.data = data;
		io.length = static_cast<std::uint32_t>(length);
		return io;
	}

	std::unique_ptr<rpcrdma_nfs, detail::frees<rpcrdma_nfs_close>> handle_;
};

} // namespace rpcrdma

#endif
