/* The whole public interface of libdarwinnotify, in reading order. "Apple:" names the function that
 * one mirrors, and the differences; where it is missing, Apple has none. */
#ifndef DARWINNOTIFY_DARWINNOTIFY_H
#define DARWINNOTIFY_DARWINNOTIFY_H

#include "base.h"
#include "error.h"
#include "executor.h"
#include "dict.h"
#include "center.h"
#include "observer.h"
#include "distributed.h"
#include "call.h"
#include "service.h"
#include "loop.h"
#include "token.h"
#include "inspect.h"
#include "library.h"
#include "statistics.h"

#endif
