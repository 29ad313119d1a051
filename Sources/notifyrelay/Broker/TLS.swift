// Encrypts a connection, through OpenSSL.

import COpenSSL
import Glibc

/// The authorities that a realm trusts, and how it identifies itself.
final class TLSContext: @unchecked Sendable {
  // One thread at a time creates sessions from it.
  fileprivate let context: OpaquePointer

  private static let isReady = dn_ssl_init() == 1

  init(_ settings: RealmSettings) throws(Mistake) {
    guard Self.isReady, let context = SSL_CTX_new(TLS_client_method()) else {
      throw Mistake("out of memory", status: 2)
    }
    self.context = context
    ERR_clear_error()
    dn_ssl_refuse_passwords(context)
    dn_ssl_refuse_renegotiation(context)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    var isUsable = dn_ssl_set_least_version(context) == 1
    let authority = settings.authority
    let folder = authority == nil ? "/etc/ssl/certs" : nil
    isUsable = isUsable && SSL_CTX_load_verify_locations(context, authority, folder) == 1
    if let certificate = settings.certificate, let key = settings.key {
      isUsable =
        isUsable && SSL_CTX_use_certificate_chain_file(context, certificate) == 1
        && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1
        && SSL_CTX_check_private_key(context) == 1
    }
    guard isUsable else {
      throw Mistake("the certificates of realm \(settings.name) cannot be used: \(lastError())")
    }
  }

  deinit {
    SSL_CTX_free(context)
  }
}

/// The encryption of one connection.
final class TLSSession {
  private let session: OpaquePointer

  /// The result of an OpenSSL call.
  enum Outcome {
    case done(Int)
    /// Nothing can be done until the socket can be read or written.
    case wait(isForWriting: Bool)
    case failed(Failure)
  }

  /// Begins on a connected non-blocking socket. Returns `nil` if out of memory.
  init?(_ context: TLSContext, on descriptor: CInt, with broker: BrokerAddress) {
    guard let session = SSL_new(context.context) else { return nil }
    self.session = session
    let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), broker.host) == 1
    ERR_clear_error()
    dn_ssl_set_partial_writes(session)
    guard SSL_set_fd(session, descriptor) == 1,
      isAddress
        || SSL_set1_host(session, broker.host) == 1
          && dn_ssl_set_server_name(session, broker.host) == 1
    else { return nil }
  }

  deinit {
    SSL_free(session)
  }

  func connect(_ broker: BrokerAddress) -> Outcome {
    ERR_clear_error()
    return outcome(of: SSL_connect(session), broker)
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer, _ broker: BrokerAddress) -> Outcome {
    ERR_clear_error()
    return outcome(of: SSL_read(session, buffer.baseAddress, CInt(buffer.count)), broker)
  }

  func write(_ bytes: UnsafeRawBufferPointer, _ broker: BrokerAddress) -> Outcome {
    ERR_clear_error()
    let count = CInt(clamping: bytes.count)
    return outcome(of: SSL_write(session, bytes.baseAddress, count), broker)
  }

  private func outcome(of result: CInt, _ broker: BrokerAddress) -> Outcome {
    if result > 0 { return .done(Int(result)) }
    let error = errno
    switch SSL_get_error(session, result) {
    case SSL_ERROR_WANT_READ: return .wait(isForWriting: false)
    case SSL_ERROR_WANT_WRITE: return .wait(isForWriting: true)
    case SSL_ERROR_ZERO_RETURN: return .failed(.closed(broker))
    case SSL_ERROR_SYSCALL:
      return .failed(error == 0 ? .closed(broker) : .unreachable(broker, error))
    default: return .failed(failure(broker))
    }
  }

  private func failure(_ broker: BrokerAddress) -> Failure {
    switch SSL_get_verify_result(session) {
    case Int(X509_V_OK): .tls(broker, lastError())
    case Int(X509_V_ERR_HOSTNAME_MISMATCH), Int(X509_V_ERR_IP_ADDRESS_MISMATCH):
      .wrongHost(broker)
    case let reason:
      .notTrusted(broker, String(cString: X509_verify_cert_error_string(reason)))
    }
  }
}

/// OpenSSL's reason for the first error of the last call.
private func lastError() -> String {
  ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) } ?? "no reason given"
}
