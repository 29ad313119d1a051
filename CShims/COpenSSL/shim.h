/* Gives SwiftPM the compile and link flags of OpenSSL, and Swift the macros that it cannot call. */
#pragma once
/* First, as in Swift's module of libc: with _FORTIFY_SOURCE, realpath() looks for PATH_MAX, and two
 * modules that define it in different ways cannot be imported together. */
#include <limits.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Leaves nothing for the end of the process to clean up, while a thread may still connect. */
static inline int dn_ssl_init(void)
{
        return OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}

/* Lets a write be tried again with the rest of the bytes, at another address. */
static inline void dn_ssl_set_partial_writes(SSL *ssl)
{
        (void)SSL_set_mode(ssl,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

/* A server that asks to begin again, and then says nothing, would keep writes from ending. */
static inline void dn_ssl_refuse_renegotiation(SSL_CTX *context)
{
        (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}

static inline int dn_ssl_set_least_version(SSL_CTX *context)
{
        return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/* Names the host that is wanted from those of the server. */
static inline int dn_ssl_set_server_name(SSL *ssl, const char *host)
{
        return (int)SSL_set_tlsext_host_name(ssl, host);
}

static inline int dn_ssl_no_password(char *buffer, int n_bytes, int is_writing, void *context)
{
        (void)buffer, (void)n_bytes, (void)is_writing, (void)context;
        return 0;
}

/* Refuses keys with a password: nobody is there to type it. */
static inline void dn_ssl_refuse_passwords(SSL_CTX *context)
{
        SSL_CTX_set_default_passwd_cb(context, dn_ssl_no_password);
}
