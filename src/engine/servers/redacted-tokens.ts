/** Registers a server's tokens with the redactor, which removes them from what the server returns. Used by calls of servers and by listings. */
import type { ServerTokens } from '../../ports/upstream.ts';
import type { Redactor } from '../call/redact.ts';

export function withRedactedTokens(tokens: ServerTokens, redactor: Pick<Redactor, 'addSecret'>): ServerTokens {
  return {
    ...tokens,
    async token() {
      const token = await tokens.token();
      return token === null ? null : redactor.addSecret(token);
    },
  };
}
