// A server of its own for one test file, and people who live there. It runs the binary that
// ROUNDTABLE names, on a free port, in a directory that is gone afterwards.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, cacheExchange, fetchExchange } from '@urql/core';

const BINARY = process.env.ROUNDTABLE;

export class Town {
  #server;
  #data;

  /** Starts a server, and comes back when it listens. */
  static async open() {
    if (!BINARY) throw new Error('ROUNDTABLE must name the binary; scripts/check-clients.sh does that');
    const town = new Town();
    town.#data = await mkdtemp(join(tmpdir(), 'roundtable-clients-'));
    const flags = ['serve', '--listen', '127.0.0.1:0', '--data', join(town.#data, 'data')];
    const env = { ...process.env, ROUNDTABLE_LOG__FORMAT: 'json' };
    town.#server = spawn(BINARY, flags, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const said = [];
    for await (const line of createInterface({ input: town.#server.stderr })) {
      said.push(line);
      const { message, url } = line.startsWith('{') ? JSON.parse(line) : {};
      if (message === 'listening') {
        town.url = url;
        break;
      }
    }
    // Somebody must go on reading, or it would stop speaking.
    town.#server.stderr.resume();
    if (!town.url) throw new Error(`the server ended before it listened:\n${said.join('\n')}`);
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

  /** Somebody new, with a client of their own. */
  async person(nickname) {
    const signUp = `mutation ($input: RegisterInput!) { register(input: $input) { accessToken user { id } } }`;
    const input = { email: `${nickname}@example.com`, password: `${nickname} likes tests`, nickname };
    const { register } = await ask(this.#client(), signUp, { input });
    return new Person(register.user.id, register.accessToken, this.#client(register.accessToken));
  }

  /** Where subscriptions are opened. */
  get socket() {
    return `${this.url.replace('http', 'ws')}/graphql`;
  }

  #client(token) {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    return new Client({
      url: `${this.url}/graphql`,
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

  async post(content) {
    const create = `mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }`;
    await ask(this.client, create, { input: { content, contentType: 'text' } });
  }

  async follow(other) {
    await ask(this.client, `mutation ($id: ID!) { followUser(followeeId: $id) { status } }`, { id: other.id });
  }
}

/** What a document comes to; an error in the answer is thrown. */
export async function ask(client, document, variables = {}) {
  const isChange = document.trimStart().startsWith('mutation');
  const asked = isChange ? client.mutation(document, variables) : client.query(document, variables);
  const { data, error } = await asked.toPromise();
  if (error) throw error;
  return data;
}
