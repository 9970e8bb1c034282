// SPDX-License-Identifier: Apache-2.0
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// What OpenSSL has as macros, which Swift does not import.

/// A key on the curve P-256; NULL if there is none to be had.
static inline EVP_PKEY *example_make_key(void) { return EVP_EC_gen("P-256"); }

/// A certificate for "localhost" that vouches for itself, for an hour; NULL on failure.
static inline X509 *example_make_certificate(EVP_PKEY *key) {
  X509 *certificate = X509_new();
  if (!certificate) return NULL;
  X509_NAME *name = X509_get_subject_name(certificate);
  X509_EXTENSION *names =
      X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:localhost");
  int is_made =
      names && X509_set_version(certificate, 2) &&
      ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) &&
      X509_gmtime_adj(X509_getm_notBefore(certificate), -60) &&
      X509_gmtime_adj(X509_getm_notAfter(certificate), 3600) &&
      X509_NAME_add_entry_by_txt(
          name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1, 0) &&
      X509_set_issuer_name(certificate, name) && X509_add_ext(certificate, names, -1) &&
      X509_set_pubkey(certificate, key) && X509_sign(certificate, key, EVP_sha256());
  X509_EXTENSION_free(names);
  if (is_made) return certificate;
  X509_free(certificate);
  return NULL;
}

static inline long example_trust(SSL_CTX *context, X509 *certificate) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
}
