import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Authority extends Certificate {
  /** A certificate of this authority for a name; `addresses` are the IPv4 addresses it is good for. */
  issue(name: string, addresses?: readonly string[]): Certificate;
}

/** A certificate authority of the test's own. Node.js makes keys and signatures, but no certificates. */
export function certificateAuthority(name: string): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    ...certificate(name, own, { name, key: own.privateKey }, [basicConstraints]),
    issue(subject, addresses = []) {
      const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
      return certificate(subject, keys, { name, key: own.privateKey }, [alternativeNames(subject, addresses)]);
    },
  };
}

const SEQUENCE = 0x30;
const SET = 0x31;
const OCTETS = 0x04;
const DAY_MS = 86_400_000;

/** An element of DER. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const commonName = (name: string) =>
  der(SEQUENCE, der(SET, der(SEQUENCE, hex("06 03 55 04 03"), der(0x0c, Buffer.from(name)))));
const time = (at: number) => der(0x17, Buffer.from(`${new Date(at).toISOString().replace(/\D/g, "").slice(2, 14)}Z`));
const basicConstraints = der(SEQUENCE, hex("06 03 55 1d 13 01 01 ff"), der(OCTETS, hex("30 03 01 01 ff")));
const alternativeNames = (name: string, addresses: readonly string[]) => {
  const ips = addresses.map(address => der(0x87, Buffer.from(address.split(".").map(Number))));
  return der(SEQUENCE, hex("06 03 55 1d 11"), der(OCTETS, der(SEQUENCE, der(0x82, Buffer.from(name)), ...ips)));
};
const ecdsaWithSha256 = der(SEQUENCE, hex("06 08 2a 86 48 ce 3d 04 03 02"));

function certificate(
  name: string,
  { publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  issuer: { readonly name: string; readonly key: KeyObject },
  extensions: readonly Buffer[],
): Certificate {
  const now = Date.now();
  const signed = der(
    SEQUENCE,
    hex("a0 03 02 01 02"),
    der(0x02, Buffer.concat([hex("01"), randomBytes(8)])),
    ecdsaWithSha256,
    commonName(issuer.name),
    der(SEQUENCE, time(now - DAY_MS), time(now + DAY_MS)),
    commonName(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = sign("sha256", signed, issuer.key);
  const whole = der(SEQUENCE, signed, ecdsaWithSha256, der(0x03, hex("00"), signature));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
