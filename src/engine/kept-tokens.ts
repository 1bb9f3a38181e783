/** Tokens of a server, each of them taken out of whatever the server answers. Used by whoever calls servers or reads what they list. */
import type { ServerTokens } from '../ports/upstream.ts';
import type { Redactor } from './redact.ts';

export function keptTokens(tokens: ServerTokens, redactor: Pick<Redactor, 'keep'>): ServerTokens {
  return {
    ...tokens,
    async token() {
      const token = await tokens.token();
      return token === null ? null : redactor.keep(token);
    },
  };
}
