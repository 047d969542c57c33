import type { Fault } from "./response_verdict.ts";

/** Why a certificate does not verify, by OpenSSL's code. */
const certificates: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  CERT_REVOKED: "was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is signed by itself",
  ERR_TLS_CERT_ALTNAME_INVALID: "was made for another host",
  HOSTNAME_MISMATCH: "was made for another host",
  ...Object.fromEntries(
    [
      ...["SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
      ...["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "CERT_UNTRUSTED", "INVALID_CA"],
    ].map(code => [code, "is signed by an authority that is not known here"]),
  ),
};

const trust =
  "Ask the service's operator for a certificate that verifies, or name your own authority's in the variable NODE_EXTRA_CA_CERTS.";

/** What is wrong with the way to the service, where no further attempt mends it: the host, TLS, or a certificate. */
export function lastingFault(error: unknown, base: URL): Pick<Fault, "what" | "lasting"> | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const address = `api.base_url is ${base.href}`;
  if (code === "ENOTFOUND")
    return {
      what: `no address for the host ${base.hostname}: no name server knows it`,
      lasting: `${address}: check its spelling, this machine's name servers, and the proxy where there is one.`,
    };
  if (/^(EPROTO|ERR_SSL_\w+)$/.test(code))
    return {
      what: `no TLS from ${base.host}: it speaks plain http there, or another protocol`,
      lasting: `${address}: write the port on which the service speaks https, or http:// if it has none.`,
    };
  const reason = certificates[code];
  if (reason === undefined) return undefined;
  return { what: `a certificate from ${base.host} that ${reason}`, lasting: `${address}. ${trust}` };
}

/** Advice where something answers at the address that is not the service. */
export const elsewhere = (base: URL): string =>
  `api.base_url is ${base.href}: set it to the service's own address, without /api/v1 and without a path unless the service has one; a proxy or a portal may answer in its place, too.`;
