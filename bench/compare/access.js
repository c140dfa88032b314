// Does for every request what our server does: verifies the token, and signs the URLs of pictures.

import { createHmac, createPublicKey } from "node:crypto";
import { createVerifier } from "fast-jwt";

/** Returns a function from a request's `authorization` header to the viewer's number in the database. */
export function viewers({ jwks, audience }, pool) {
  const keys = new Map(
    jwks.keys.map((key) => [key.kid, createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "pem" })]),
  );
  // Verified tokens are cached, as on our server.
  const verify = createVerifier({
    key: async ({ header }) => keys.get(header.kid),
    algorithms: ["RS256"],
    allowedAud: audience,
    cache: 10_000,
  });
  const numbers = new Map();
  return async (authorization) => {
    const { sub } = await verify(authorization?.slice("Bearer ".length) ?? "");
    // Numeric ids make the database faster; ours are text. So the number of a user is looked up once.
    let number = numbers.get(sub);
    if (number === undefined) {
      const { rows } = await pool.query("SELECT id FROM users WHERE uid = $1", [sub]);
      number = rows[0].id;
      numbers.set(sub, number);
    }
    return number;
  };
}

/** Returns a function from the key of a picture to its signed URL, which has the parts of ours. */
export function pictures({ mediaKey, mediaUrl, downloadSeconds }) {
  const secret = Buffer.from(mediaKey, "hex");
  return (key) => {
    if (key === null) {
      return null;
    }
    const expires = Math.floor(Date.now() / 1000) + downloadSeconds;
    const grant = `v1\nGET\n${key}\n1\nimage/jpeg\n0\n${expires}`;
    const signature = createHmac("sha256", secret).update(grant).digest("base64url");
    return `${mediaUrl}${key}?copy=1&type=image/jpeg&bytes=0&expires=${expires}&signature=${signature}`;
  };
}
