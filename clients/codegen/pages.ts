// A typed program over what graphql-codegen generates. It must compile in strict mode, and reads pages.

import { Client, fetchExchange } from '@urql/core';
import { CommentDocument, type CommentMutationVariables, ContentType, PageDocument } from './gql/graphql.js';

type Page = { contents: string[]; endCursor: string | null | undefined; hasNextPage: boolean };

export function typedClient(url: string, authorization: string) {
  const client = new Client({ url, exchanges: [fetchExchange], fetchOptions: { headers: { authorization } } });

  async function page(userId: string, after?: string | null): Promise<Page> {
    const { data, error } = await client.query(PageDocument, { userId, after }).toPromise();
    if (!data) throw error;
    const { edges, pageInfo } = data.listUserPosts;
    // @ts-expect-error: the query does not select it, so the type does not have it.
    void edges[0]?.node.likeCount;
    const texts = edges.filter(({ node }) => node.contentType === ContentType.Text);
    const contents = texts.map(({ node }) => `${node.author?.nickname}, ${node.createdAt.slice(0, 2)}…: ${node.content}`);
    return { contents, endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
  }

  async function comment(postId: string, content: string): Promise<string> {
    // @ts-expect-error: `content` is required.
    const incomplete: CommentMutationVariables = { input: { postId } };
    void incomplete;
    const { data, error } = await client.mutation(CommentDocument, { input: { postId, content } }).toPromise();
    if (!data) throw error;
    return data.addComment.content;
  }

  return { page, comment };
}
