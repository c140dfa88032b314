// Requests to the API, signed in or not. The tokens are kept for all tabs of the browser. An access token is
// renewed before it expires, and the request is sent again if the server says that it has expired.

const KEY = "roundtable.session";
/** A token is renewed when it has less than this to live, or less than half of its life. */
const RENEW_BEFORE_MS = 10_000;
const TOKENS = "accessToken refreshToken expiresIn";
const LOGIN = `mutation ($email: AWSEmail!, $password: String!) { login(email: $email, password: $password) { ${TOKENS} } }`;
const REFRESH = `mutation ($token: String!) { refreshToken(refreshToken: $token) { ${TOKENS} } }`;
const LOGOUT = "mutation ($token: String!) { logout(refreshToken: $token) }";
const ME = "{ me { nickname } }";
/** The headers that carry a credential of the user's own. */
const CREDENTIALS = ["authorization", "x-api-key"];

/** A problem that the user can solve by signing in again, or later. */
export class SessionProblem extends Error {}

export class Session {
  #address;
  #storage;
  #locks;
  #queue = Promise.resolve();

  /** `locks` are those of the browser, if it has them: pages without TLS have none, except on the same machine. */
  constructor(address, storage, locks) {
    this.#address = address;
    this.#storage = storage;
    this.#locks = locks;
  }

  get #tokens() {
    try {
      return JSON.parse(this.#storage.getItem(KEY)) ?? {};
    } catch {
      return {};
    }
  }

  set #tokens(tokens) {
    this.#storage.setItem(KEY, JSON.stringify(tokens));
  }

  get isSignedIn() {
    return "accessToken" in this.#tokens;
  }

  async signIn(email, password) {
    const { answer } = await this.#send({ query: LOGIN, variables: { email, password } });
    if (!answer.data?.login) throw new SessionProblem(messageOf(answer));
    this.#keep(answer.data.login);
  }

  /** Signs in with an access token or an API key, if the server accepts it. */
  async signInWith(accessToken) {
    const { status, answer } = await this.#send({ query: ME }, { authorization: `Bearer ${accessToken}` });
    if (status === 401) throw new SessionProblem(refusal(accessToken, answer));
    if (!answer.data) throw new SessionProblem(messageOf(answer));
    this.#tokens = { accessToken };
  }

  /** Forgets the tokens, and ends the session at the server. */
  async signOut() {
    const { refreshToken } = this.#tokens;
    this.#storage.removeItem(KEY);
    if (refreshToken) await this.#send({ query: LOGOUT, variables: { token: refreshToken } });
  }

  /** The nickname of the signed-in user. */
  async nickname() {
    const { answer } = await this.request({ query: ME });
    if (!answer.data?.me) throw new SessionProblem(answer.errors ? messageOf(answer) : "the account does not exist");
    return answer.data.me.nickname;
  }

  /** Sends a request with the headers of the user, which go before the session's. */
  async request(body, headers = {}) {
    if (hasCredential(headers)) return this.#send(body, headers);
    const token = await this.token();
    if (!token) return this.#send(body, headers);
    const signed = (accessToken) => this.#send(body, { ...headers, authorization: `Bearer ${accessToken}` });
    const first = await signed(token);
    if (first.status !== 401) return first;
    const { accessToken, refreshToken } = this.#tokens;
    if (!refreshToken) throw new SessionProblem(refusal(token, first.answer));
    return signed(accessToken === token ? await this.#renew(refreshToken) : accessToken);
  }

  /** The credential of a subscription, which a browser cannot send as a header. */
  async connectionPayload(headers = {}) {
    const token = hasCredential(headers) ? undefined : await this.token();
    return token ? { ...headers, authorization: `Bearer ${token}` } : headers;
  }

  /** The access token, renewed if it is about to expire; undefined if no user is signed in. */
  async token() {
    const { accessToken, refreshToken, renewAt } = this.#tokens;
    const isDue = refreshToken && Date.now() >= renewAt;
    return isDue ? this.#renew(refreshToken) : accessToken;
  }

  /** Exchanges the refresh token. It works once, so one tab at a time does this, unless another one has done it. */
  async #renew(known) {
    return this.#alone(async () => {
      const { accessToken, refreshToken } = this.#tokens;
      if (refreshToken !== known) return accessToken;
      const { answer } = await this.#send({ query: REFRESH, variables: { token: refreshToken } });
      if (answer.data?.refreshToken) return this.#keep(answer.data.refreshToken);
      // An end is final. After any other error, the refresh token is still good.
      if (codeOf(answer) === "UNAUTHENTICATED") {
        this.#tokens = { accessToken };
        throw new SessionProblem("Your session has ended. Sign in again.");
      }
      throw new SessionProblem(`The access token has expired, and cannot be renewed now: ${messageOf(answer)}`);
    });
  }

  async #alone(work) {
    if (this.#locks) return this.#locks.request(KEY, work);
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  #keep({ accessToken, refreshToken, expiresIn }) {
    const life = expiresIn * 1000;
    this.#tokens = { accessToken, refreshToken, renewAt: Date.now() + life - Math.min(RENEW_BEFORE_MS, life / 2) };
    return accessToken;
  }

  async #send(body, headers = {}) {
    const all = { "content-type": "application/json", ...headers };
    let response;
    try {
      response = await fetch(this.#address, { method: "POST", headers: all, body: JSON.stringify(body) });
    } catch (error) {
      // `fetch` reports unusable headers and a missing network alike.
      throw new SessionProblem(`The request was not sent, or the connection was lost: ${error.message}`);
    }
    const text = await response.text();
    try {
      return { status: response.status, answer: JSON.parse(text) };
    } catch {
      const message = `the server did not answer with JSON: ${response.status} ${response.statusText}`;
      return { status: response.status, answer: { errors: [{ message }] } };
    }
  }
}

const hasCredential = (headers) => Object.keys(headers).some((name) => CREDENTIALS.includes(name.toLowerCase()));
const codeOf = (answer) => answer.errors?.[0]?.extensions?.code;
const messageOf = (answer) => answer.errors?.[0]?.message ?? "the server gave no reason";

/** The reason why the server refused a token: the end of its life, if the token tells it, else the server's words. */
function refusal(token, answer) {
  const ended = expiry(token);
  if (!ended || ended > new Date()) return `The server refused the token: ${messageOf(answer)}`;
  return `The access token expired at ${ended.toLocaleString()}. Sign in again.`;
}

/** The end of an access token's life; undefined for an API key. */
function expiry(token) {
  try {
    const claims = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return Number.isFinite(claims.exp) ? new Date(claims.exp * 1000) : undefined;
  } catch {
    return undefined;
  }
}
