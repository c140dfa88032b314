// A server of its own for one test file, and its users. It runs the binary that ROUNDTABLE names, on a
// free port, in a directory that is removed afterwards.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, cacheExchange, fetchExchange } from '@urql/core';

function binary() {
  if (!process.env.ROUNDTABLE) throw new Error('ROUNDTABLE must name the binary; scripts/check-clients.sh sets it');
  return process.env.ROUNDTABLE;
}

/** The schema, as `roundtable schema` prints it. */
export async function schemaText() {
  const { stdout } = await promisify(execFile)(binary(), ['schema'], { maxBuffer: 1 << 24 });
  return stdout;
}

/** Calls `use` with an empty directory, and removes it afterwards. */
export async function inDirectory(use) {
  const path = await mkdtemp(join(tmpdir(), 'roundtable-clients-'));
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true });
  }
}

export class Town {
  #server;
  #data;

  /** Starts a server, with settings as environment variables, and returns when it listens. */
  static async open(settings = {}) {
    const town = new Town();
    town.#data = await mkdtemp(join(tmpdir(), 'roundtable-clients-'));
    const flags = ['serve', '--listen', '127.0.0.1:0', '--data', join(town.#data, 'data')];
    const env = { ...process.env, ROUNDTABLE_LOG__FORMAT: 'json', ...settings };
    town.#server = spawn(binary(), flags, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const log = [];
    for await (const line of createInterface({ input: town.#server.stderr })) {
      log.push(line);
      const { message, url } = line.startsWith('{') ? JSON.parse(line) : {};
      if (message === 'listening') {
        town.url = url;
        break;
      }
    }
    // The pipe must be drained, or the server would block on its log.
    town.#server.stderr.resume();
    if (!town.url) throw new Error(`the server ended before it listened:\n${log.join('\n')}`);
    return town;
  }

  /** Tells the server to stop, and waits until it has. */
  async close() {
    const ended = once(this.#server, 'exit');
    this.#server.kill('SIGTERM');
    const [status] = await ended;
    await rm(this.#data, { recursive: true });
    if (status !== 0) throw new Error(`the server ended with ${status}`);
  }

  /** A new user, with a client of their own. */
  async person(nickname) {
    const signUp = `mutation ($input: RegisterInput!) { register(input: $input) { accessToken user { id } } }`;
    const input = { email: `${nickname}@example.com`, password: `${nickname} likes tests`, nickname };
    const { register } = await ask(this.#client(), signUp, { input });
    return new Person(register.user.id, register.accessToken, this.#client(register.accessToken));
  }

  get graphql() {
    return `${this.url}/graphql`;
  }

  /** The address of subscriptions. */
  get socket() {
    return this.graphql.replace('http', 'ws');
  }

  #client(token) {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    return new Client({
      url: this.graphql,
      preferGetMethod: false,
      exchanges: [cacheExchange, fetchExchange],
      fetchOptions: { headers },
    });
  }
}

export class Person {
  constructor(id, token, client) {
    Object.assign(this, { id, token, client });
  }

  get headers() {
    return { authorization: `Bearer ${this.token}` };
  }

  /** Returns the new post's id. */
  async post(content) {
    const create = `mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }`;
    const { createPost } = await ask(this.client, create, { input: { content, contentType: 'text' } });
    return createPost.id;
  }

  /** Writes so many posts, and returns their texts, newest first. */
  async posts(count) {
    const texts = Array.from({ length: count }, (_, at) => `post ${at + 1}`);
    for (const text of texts) await this.post(text);
    return texts.reverse();
  }

  /** The id of the newest entry of the home feed, which a subscription continues after. */
  async newestEntry() {
    const document = `{ getFeed(first: 1) { edges { node { activityId } } } }`;
    // The cache of the client would answer with an older page.
    const { data, error } = await this.client.query(document, {}, { requestPolicy: 'network-only' }).toPromise();
    if (error) throw error;
    return data.getFeed.edges[0].node.activityId;
  }

  async follow(other) {
    await ask(this.client, `mutation ($id: ID!) { followUser(followeeId: $id) { status } }`, { id: other.id });
  }
}

/** The data of the response; an error in it is thrown. */
export async function ask(client, document, variables = {}) {
  const isMutation = document.trimStart().startsWith('mutation');
  const asked = isMutation ? client.mutation(document, variables) : client.query(document, variables);
  const { data, error } = await asked.toPromise();
  if (error) throw error;
  return data;
}
