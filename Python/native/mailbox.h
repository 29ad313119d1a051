/* What the library has to tell one reader in Python.
 *
 * The library's callbacks run here, in C, and leave letters; a thread of Python takes them when the
 * descriptor is readable. So no thread of the library ever enters the interpreter. */
#ifndef DARWINNOTIFY_MAILBOX_H
#define DARWINNOTIFY_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <darwinnotify/darwinnotify.h>

enum {
        LETTER_EVENT = 1,   /* a notification */
        LETTER_OUTCOME = 2, /* how a call has ended */
        LETTER_REQUEST = 3, /* a request, to be answered or refused */
        LETTER_CANCEL = 4,  /* nobody waits any longer for the answer to a request */
};

#define MAILBOX_BATCH 64

/* Something to read. Its texts are copies; NULL where there is none. */
typedef struct letter {
        int type;
        char *name;       /* of the event; of the error; what is requested */
        char *text;       /* the object; the message of the error; the connection that asks */
        dn_dict *values;  /* the user info; the reply or details; the arguments */
        uint64_t n_posts; /* the rest as in dn_event, dn_outcome and dn_request_info */
        uint64_t n_dropped;
        bool may_have_missed;
        int error;
        uint64_t id;
        uint32_t user;
        int32_t process;
        dn_request *request; /* refused with the letter, unless it was taken out */
        struct letter *next;
} letter;

/* The letters of one observer, call or service. Used by one thread at a time. */
typedef struct mailbox mailbox;

int mailbox_new(mailbox **ret_box);

/* Ends the observer, call or service, and frees the mailbox; NULL is allowed. Does nothing in a
 * forked child, which inherits neither. */
void mailbox_close(mailbox *box);

/* Returns the descriptor to wait for. */
int mailbox_get_fd(mailbox *box);

/* Returns what has arrived, at most MAILBOX_BATCH letters, each to be freed; NULL if nothing has.
 * If there are as many, call it again, since the descriptor does not tell of what is left. */
letter *mailbox_receive(mailbox *box);

void letter_free(letter *read);

/* One of these is called, once, for a mailbox. It returns what the library's function does. */

int mailbox_observe(mailbox *box, dn_center *center, const char *name, const char *prefix,
                    const char *object);
int mailbox_call(mailbox *box, const char *service, const char *kind, const dn_dict *arguments,
                 uint64_t timeout_us);

/* `is_open`: everybody on the bus may ask, not only the user. */
int mailbox_serve(mailbox *box, const char *name, const char *const *kinds, bool is_open,
                  bool may_wait);

#endif
