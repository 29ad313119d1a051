/* The network configuration of the kernel. */
#include "netlink.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hash.h"

#define MAX_OBJECTS 10000
#define BUFFER_BYTES 32768

#define LINK_FLAGS (IFF_UP | IFF_RUNNING | IFF_LOWER_UP)
#define ADDRESS_FLAGS (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED)

static int open_socket(unsigned groups)
{
        struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

        if (fd < 0)
                return -errno;
        if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
                return fd;
        (void)close(fd);
        return -errno;
}

int netlink_listen(void)
{
        return open_socket(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                           RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
}

/* --- What matters ---------------------------------------------------------------------------- */

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
        return hash_bytes(hash, &number, sizeof(number));
}

/* Adds the attributes whose bits are in `wanted`; lifetimes and counters are not. */
static uint64_t hash_attributes(uint64_t hash, const struct rtattr *attribute, size_t n_bytes,
                                uint64_t wanted)
{
        for (; RTA_OK(attribute, n_bytes); attribute = RTA_NEXT(attribute, n_bytes))
                if (attribute->rta_type < 64 && wanted >> attribute->rta_type & 1)
                        hash = hash_bytes(hash_number(hash, attribute->rta_type),
                                          RTA_DATA(attribute), RTA_PAYLOAD(attribute));
        return hash;
}

static uint64_t hash_link(const struct nlmsghdr *header)
{
        const struct ifinfomsg *link = NLMSG_DATA(header);
        uint64_t hash = hash_number(HASH_EMPTY, (uint64_t)link->ifi_index);

        hash = hash_number(hash, link->ifi_flags & LINK_FLAGS);
        return hash_attributes(hash, IFLA_RTA(link), IFLA_PAYLOAD(header),
                               1ull << IFLA_IFNAME | 1ull << IFLA_ADDRESS | 1ull << IFLA_MTU);
}

static uint64_t hash_address(const struct nlmsghdr *header)
{
        const struct ifaddrmsg *address = NLMSG_DATA(header);
        uint64_t hash = hash_number(HASH_EMPTY + 1, address->ifa_index);

        hash = hash_number(hash, address->ifa_family);
        hash = hash_number(hash, address->ifa_prefixlen);
        hash = hash_number(hash, address->ifa_flags & ADDRESS_FLAGS);
        return hash_attributes(hash, IFA_RTA(address), IFA_PAYLOAD(header),
                               1ull << IFA_ADDRESS | 1ull << IFA_LOCAL);
}

/* Routes to the host's own addresses come and go with these; clones are a cache. */
static uint64_t hash_route(const struct nlmsghdr *header)
{
        const struct rtmsg *route = NLMSG_DATA(header);
        uint64_t hash = hash_number(HASH_EMPTY + 2, route->rtm_family);

        if (route->rtm_table == RT_TABLE_LOCAL || route->rtm_flags & RTM_F_CLONED)
                return 0;
        hash = hash_number(hash, route->rtm_dst_len);
        hash = hash_number(hash, route->rtm_type);
        return hash_attributes(hash, RTM_RTA(route), RTM_PAYLOAD(header),
                               1ull << RTA_DST | 1ull << RTA_GATEWAY | 1ull << RTA_OIF |
                                       1ull << RTA_PRIORITY | 1ull << RTA_TABLE |
                                       1ull << RTA_MULTIPATH);
}

static uint64_t hash_object(const struct nlmsghdr *header)
{
        switch (header->nlmsg_type) {
        case RTM_NEWLINK: return hash_link(header);
        case RTM_NEWADDR: return hash_address(header);
        case RTM_NEWROUTE: return hash_route(header);
        default: return 0;
        }
}

/* --- Reading --------------------------------------------------------------------------------- */

static int ask(int fd, uint16_t type, uint32_t sequence)
{
        struct {
                struct nlmsghdr header;
                struct rtgenmsg generic;
        } request = {
                .header = {
                        .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
                        .nlmsg_type = type,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                        .nlmsg_seq = sequence,
                },
                .generic = { .rtgen_family = AF_UNSPEC },
        };

        return send(fd, &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Adds the objects of one datagram: the order of the kernel's list does not matter. Returns 1 at
 * the end of the list, 0 before, or a negative errno. */
static int add_objects(const void *buffer, size_t n_bytes, uint32_t sequence, uint64_t *sum,
                       unsigned *n_objects)
{
        for (const struct nlmsghdr *header = buffer; NLMSG_OK(header, n_bytes);
             header = NLMSG_NEXT(header, n_bytes)) {
                if (header->nlmsg_seq != sequence)
                        continue;
                if (header->nlmsg_type == NLMSG_DONE)
                        return 1;
                if (header->nlmsg_type == NLMSG_ERROR)
                        return -EIO;
                *sum += hash_object(header);
                if (++*n_objects > MAX_OBJECTS)
                        return -E2BIG;
        }
        return 0;
}

static int read_list(int fd, uint16_t type, uint64_t *sum, unsigned *n_objects)
{
        _Alignas(struct nlmsghdr) char buffer[BUFFER_BYTES];
        uint32_t sequence = type;
        int r = ask(fd, type, sequence);

        while (r == 0) {
                ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

                if (n < 0 && errno == EINTR)
                        continue;
                r = n < 0 ? -errno : add_objects(buffer, (size_t)n, sequence, sum, n_objects);
        }
        return r < 0 ? r : 0;
}

int netlink_read_sum(uint64_t *ret_sum)
{
        static const uint16_t types[] = { RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE };
        unsigned n_objects = 0;
        uint64_t sum = 0;
        int r = 0, fd = open_socket(0);

        if (fd < 0)
                return fd;
        for (size_t i = 0; r == 0 && i < sizeof(types) / sizeof(types[0]); i++)
                r = read_list(fd, types[i], &sum, &n_objects);
        (void)close(fd);
        if (r == 0)
                *ret_sum = sum;
        return r;
}
