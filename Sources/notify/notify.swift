// Gives Swift Apple's <notify.h> under the name that its module has on macOS.

@_exported public import var CDarwinNotify.NOTIFY_REUSE
@_exported public import var CDarwinNotify.NOTIFY_STATUS_FAILED
@_exported public import var CDarwinNotify.NOTIFY_STATUS_INVALID_FILE
@_exported public import var CDarwinNotify.NOTIFY_STATUS_INVALID_NAME
@_exported public import var CDarwinNotify.NOTIFY_STATUS_INVALID_PORT
@_exported public import var CDarwinNotify.NOTIFY_STATUS_INVALID_REQUEST
@_exported public import var CDarwinNotify.NOTIFY_STATUS_INVALID_SIGNAL
@_exported public import var CDarwinNotify.NOTIFY_STATUS_INVALID_TOKEN
@_exported public import var CDarwinNotify.NOTIFY_STATUS_NOT_AUTHORIZED
@_exported public import var CDarwinNotify.NOTIFY_STATUS_NULL_INPUT
@_exported public import var CDarwinNotify.NOTIFY_STATUS_OK
@_exported public import var CDarwinNotify.NOTIFY_STATUS_OPT_DISABLE
@_exported public import var CDarwinNotify.NOTIFY_STATUS_SERVER_NOT_FOUND
@_exported public import var CDarwinNotify.NOTIFY_TOKEN_INVALID
@_exported public import func CDarwinNotify.notify_cancel
@_exported public import func CDarwinNotify.notify_check
@_exported public import func CDarwinNotify.notify_get_state
@_exported public import func CDarwinNotify.notify_is_valid_token
@_exported public import func CDarwinNotify.notify_post
@_exported public import func CDarwinNotify.notify_register_check
@_exported public import func CDarwinNotify.notify_register_file_descriptor
@_exported public import func CDarwinNotify.notify_register_mach_port
@_exported public import func CDarwinNotify.notify_register_signal
@_exported public import func CDarwinNotify.notify_resume
@_exported public import func CDarwinNotify.notify_set_state
@_exported public import func CDarwinNotify.notify_suspend
