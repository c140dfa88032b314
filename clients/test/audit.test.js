// The audits of GraphQL over HTTP, https://graphql.github.io/graphql-over-http/, that the npm package
// `graphql-http` brings.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { serverAudits } from 'graphql-http';
import { Town } from '../town.js';

const AUDITS = 61;

describe('GraphQL over HTTP', () => {
  let town;
  const audits = serverAudits({ url: () => town.graphql });

  before(async () => {
    town = await Town.open();
  });
  after(() => town?.close());

  it(`has ${AUDITS} audits`, () => {
    assert.equal(audits.length, AUDITS, 'this version of graphql-http has other audits: read the new ones');
  });

  for (const audit of audits) {
    it(`${audit.id}: ${audit.name}`, async () => {
      const { status, reason, response } = await audit.fn();
      const body = await response?.text().catch(() => '(read already)');
      const problem = `the audit says \`${status}\`: ${reason}\n${response?.status} ${body}`;
      // A notice names a choice that the specification leaves open.
      assert.ok(status === 'ok' || status === 'notice', problem);
    });
  }
});
