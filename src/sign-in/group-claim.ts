/** Groups in the claims of a verified token. */
import type { JWTPayload } from 'jose';
import { recordOf } from '../core/json/wire-value.ts';
import { refused } from './exchange.ts';

/**
 * Returns the names in a claim: a list of texts, or one text. A claim that is absent names no group. Cloudflare Access has claims of the identity
 * provider below `custom` ("Application token").
 *
 * Throws `forbidden` if the groups are elsewhere or not texts: a person must not have fewer or other groups than the provider says. Entra ID
 * leaves out more than 200 and names another place (`_claim_names`, `hasgroups`: "Groups overage claim").
 */
export function groupsIn(claims: JWTPayload, claim: string): string[] {
  const { [claim]: own, custom, _claim_names: elsewhere, hasgroups } = claims;
  const value = own ?? recordOf(custom)[claim];
  if (value === undefined || value === null) {
    if (Object.hasOwn(recordOf(elsewhere), claim) || hasgroups !== undefined)
      throw refused('the identity provider left out your groups, since there are too many. It must send those of this application only');
    return [];
  }
  const names = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(names) || !names.every((name): name is string => typeof name === 'string'))
    throw refused(`the claim \`${claim}\` of the identity provider is not a list of names`);
  return names;
}
