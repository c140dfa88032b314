// The documents of a Relay app, for relay-compiler. The test uses what it generates from them.

import { graphql } from 'relay-runtime';

graphql`
  query postsQuery($userId: ID!) {
    getUser(id: $userId) {
      ...posts_user
    }
  }
`;

graphql`
  fragment posts_user on User
  @refetchable(queryName: "postsPageQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 4 }, after: { type: "String" }) {
    nickname
    posts(first: $first, after: $after) @connection(key: "User_posts") {
      edges {
        node {
          id
          content
          viewerHasLiked
        }
      }
    }
  }
`;

graphql`
  mutation postsLikeMutation($postId: ID!) {
    likePost(postId: $postId) {
      post {
        viewerHasLiked
      }
    }
  }
`;
