/* SPDX-License-Identifier: MIT */
/*
 * peer.c - the uid behind a connection: SO_PEERCRED of a Unix socket; of a TCP connection the owner
 * of the socket at its other end, which sock_diag looks up by the exact addresses and ports.
 *
 * The kernel answers uid 0 for sockets that nobody holds any more (closed ones whose last bytes are
 * still on their way, TIME_WAIT, half-open ones) and falls back to a listening socket where there
 * is no such connection. Taking that for root would let in anybody who closes fast; so only an
 * answer with an inode, with the very addresses asked for, counts.
 */
#include "dashboard/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_TRIES 8 /* late answers to earlier questions are skipped */
#define WAIT_MS	     100

struct question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};

static uint32_t sequence;

int peer_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

static bool is_mapped(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;

	return address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr);
}

/* ::ffff:127.0.0.1 is an IPv4 connection: the kernel keeps both ends under IPv4 addresses. */
static void unmap(struct sockaddr_storage *address)
{
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4 = {.sin_family = AF_INET};

	if (!is_mapped(address))
		return;
	memcpy(&ipv6, address, sizeof ipv6);
	memcpy(&ipv4.sin_addr, &ipv6.sin6_addr.s6_addr[12], sizeof ipv4.sin_addr);
	ipv4.sin_port = ipv6.sin6_port;
	memset(address, 0, sizeof *address);
	memcpy(address, &ipv4, sizeof ipv4);
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;

	if (address->ss_family == AF_INET)
		return ntohl(ipv4->sin_addr.s_addr) >> 24 == 127;
	return address->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr);
}

static void fill_end(const struct sockaddr_storage *address, __be16 *port, __be32 place[4])
{
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;

	if (address->ss_family == AF_INET) {
		*port = ipv4->sin_port;
		memcpy(place, &ipv4->sin_addr, sizeof ipv4->sin_addr);
	} else {
		*port = ipv6->sin6_port;
		memcpy(place, &ipv6->sin6_addr, sizeof ipv6->sin6_addr);
	}
}

/* Seen from the other end: its source is our peer. */
static struct question ask_for(const struct sockaddr_storage *ours,
			       const struct sockaddr_storage *theirs)
{
	struct question question = {
		.header = {.nlmsg_len = sizeof question,
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST,
			   .nlmsg_seq = ++sequence},
		.request = {.sdiag_family = (__u8)theirs->ss_family,
			    .sdiag_protocol = IPPROTO_TCP,
			    .idiag_states = ~0u,
			    .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
	};
	struct inet_diag_sockid *id = &question.request.id;

	fill_end(theirs, &id->idiag_sport, id->idiag_src);
	fill_end(ours, &id->idiag_dport, id->idiag_dst);
	return question;
}

/* An IPv4 connection of a client with an IPv6 socket is told with mapped addresses. */
static bool same_place(const struct inet_diag_msg *answer, const __be32 told[4],
		       const struct inet_diag_req_v2 *asked, const __be32 wanted[4])
{
	if (answer->idiag_family == AF_INET6 && asked->sdiag_family == AF_INET)
		return told[0] == 0 && told[1] == 0 && told[2] == htonl(0xffff) &&
		       told[3] == wanted[0];
	return answer->idiag_family == asked->sdiag_family && memcmp(told, wanted, 16) == 0;
}

static bool is_held(const struct inet_diag_msg *answer, const struct inet_diag_req_v2 *asked)
{
	const struct inet_diag_sockid *told = &answer->id, *wanted = &asked->id;

	return answer->idiag_inode != 0 && answer->idiag_state != TCP_LISTEN &&
	       told->idiag_sport == wanted->idiag_sport &&
	       told->idiag_dport == wanted->idiag_dport &&
	       same_place(answer, told->idiag_src, asked, wanted->idiag_src) &&
	       same_place(answer, told->idiag_dst, asked, wanted->idiag_dst);
}

/* Only what the kernel itself (port 0) says counts. */
static ssize_t receive(int diag, void *room, size_t size)
{
	struct pollfd wait = {.fd = diag, .events = POLLIN};
	struct sockaddr_nl sender = {0};
	socklen_t sender_size = sizeof sender;
	ssize_t got;

	if (poll(&wait, 1, WAIT_MS) <= 0)
		return -1;
	got = recvfrom(diag, room, size, MSG_DONTWAIT, (struct sockaddr *)&sender, &sender_size);
	return sender.nl_pid == 0 ? got : -1;
}

static bool look_up(int diag, const struct question *question, uid_t *uid)
{
	_Alignas(struct nlmsghdr) char room[8192];

	if (send(diag, question, sizeof *question, 0) != (ssize_t)sizeof *question)
		return false;
	for (int i = 0; i < ANSWER_TRIES; i++) {
		const struct nlmsghdr *header = (const struct nlmsghdr *)room;
		const struct inet_diag_msg *answer = NLMSG_DATA(header);
		ssize_t size = receive(diag, room, sizeof room);

		if (size < (ssize_t)NLMSG_LENGTH(0))
			return false;
		if (header->nlmsg_seq != question->header.nlmsg_seq)
			continue;
		if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		    size < (ssize_t)NLMSG_LENGTH(sizeof *answer) ||
		    !is_held(answer, &question->request))
			return false;
		*uid = answer->idiag_uid;
		return true;
	}
	return false;
}

static struct peer peer_of_unix(int connection)
{
	struct peer peer = {.local = true};
	struct ucred credentials;
	socklen_t size = sizeof credentials;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
		peer.known = true;
		peer.uid = credentials.uid;
	}
	return peer;
}

struct peer peer_of(int diag, int connection)
{
	struct sockaddr_storage ours = {0}, theirs = {0};
	socklen_t ours_size = sizeof ours, theirs_size = sizeof theirs;
	struct peer peer = {0};
	struct question question;

	if (getsockname(connection, (struct sockaddr *)&ours, &ours_size))
		return peer;
	if (ours.ss_family == AF_UNIX)
		return peer_of_unix(connection);
	if (getpeername(connection, (struct sockaddr *)&theirs, &theirs_size))
		return peer;
	unmap(&ours);
	unmap(&theirs);
	peer.local = is_loopback(&ours) && is_loopback(&theirs);
	if (!peer.local || diag < 0)
		return peer;
	question = ask_for(&ours, &theirs);
	peer.known = look_up(diag, &question, &peer.uid);
	return peer;
}
