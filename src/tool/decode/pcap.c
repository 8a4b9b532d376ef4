/* SPDX-License-Identifier: BSD-3-Clause */
#include <pcap/pcap.h>
#include <rpcrdma/error.h>
#include <string.h>

#include "tool/decode/decode.h"

/* Gives all packets of the file to the decoder, until the file ends or cannot be read, or standard output
 * fails. Notes the time of the first packet. Returns the last result of pcap_next_ex(). */
static int
decode_pcap_packets(struct rr_decode *decode, pcap_t *pcap, struct rr_decoder *decoder)
{
	const int link = pcap_datalink(pcap);
	struct pcap_pkthdr *header;
	const u_char *data;
	int result;

	while ((result = pcap_next_ex(pcap, &header, &data)) == 1 && !ferror(stdout)) {
		/* tv_usec has nanoseconds here: PCAP_TSTAMP_PRECISION_NANO. */
		uint64_t time = (uint64_t)header->ts.tv_sec * RR_SECOND + (uint64_t)header->ts.tv_usec;

		decode->first = decode->has_first ? decode->first : time;
		decode->has_first = true;
		rr_decoder_packet(decoder, link, time, data, header->caplen);
	}
	return result;
}

/* Writes the reason that libpcap gives into error, with the name of the file in front, unless the reason
 * begins with that name already. Returns -RPCRDMA_ERR_SYSTEM. */
static int
decode_pcap_refused(const char *path, const char *why, struct rr_text *error)
{
	size_t length = strlen(path);
	bool is_named = strncmp(why, path, length) == 0 && why[length] == ':';

	return rr_fail(error, -RPCRDMA_ERR_SYSTEM, "%s%s%s", is_named ? "" : path, is_named ? "" : ": ", why);
}

int
rr_decode_read(struct rr_decode *decode, const char *path, struct rr_decoder *decoder, struct rr_text *error)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
	int result;

	if (!pcap)
		return decode_pcap_refused(path, why, error);
	result = decode_pcap_packets(decode, pcap, decoder);
	if (result == PCAP_ERROR)
		rr_fail(error, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, pcap_geterr(pcap));
	pcap_close(pcap);
	return result == PCAP_ERROR ? -RPCRDMA_ERR_SYSTEM : 0;
}
