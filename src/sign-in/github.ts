/** Signing in with GitHub: OAuth, and its API for the primary, verified email, and for the organizations and teams of the person. */
import * as z from 'zod';
import { readEmail } from '../core/people/person.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import { type CodeFlow, exchangeJson, refused } from './exchange.ts';

type GitHub = { url: string; clientId: string; clientSecret: string };

/** https://docs.github.com/en/rest/users/emails */
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));
const Account = z.object({ login: z.string(), name: z.string().nullish() });
const Token = z.object({ access_token: z.string().regex(/^[\x21-\x7e]+$/) });

/** https://docs.github.com/en/rest/teams/teams#list-teams-for-the-authenticated-user and "List organization memberships" */
const Teams = z.array(z.object({ slug: z.string(), organization: z.object({ login: z.string() }) }));
const Memberships = z.array(z.object({ state: z.string(), organization: z.object({ login: z.string() }) }));
const perPage = 100;
const maxPages = 20;

/** `readsTeams`: asks for the right to read them (`read:org`). */
export function createGitHubFlow(
  outbound: OutboundHttp,
  { url, clientId, clientSecret }: GitHub,
  { readsTeams }: { readsTeams: boolean },
): CodeFlow {
  // GitHub Enterprise Server has its API under a path.
  const api = url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`;
  return {
    async authorizationUrl({ state }, challenge, redirectUri) {
      const query = {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: `read:user user:email${readsTeams ? ' read:org' : ''}`,
        state,
      };
      return `${url}/login/oauth/authorize?${new URLSearchParams({ ...query, code_challenge: challenge, code_challenge_method: 'S256' })}`;
    },

    async identity({ verifier }, { code }, redirectUri) {
      const body = new URLSearchParams({
        ...{ client_id: clientId, client_secret: clientSecret, code, redirect_uri: redirectUri, code_verifier: verifier },
      });
      const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
      const request = new Request(`${url}/login/oauth/access_token`, { method: 'POST', headers, body: body.toString() });
      const token = Token.safeParse(await exchangeJson(outbound, request));
      if (!token.success) throw refused('GitHub did not accept the code');
      const get = (path: string): Promise<unknown> => {
        const own = { authorization: `Bearer ${token.data.access_token}`, accept: 'application/vnd.github+json', 'user-agent': 'moniker' };
        return exchangeJson(outbound, new Request(`${api}${path}`, { headers: own }));
      };
      const emails = Emails.parse(await get('/user/emails'));
      const primary = emails.find((email) => email.primary && email.verified);
      const address = primary === undefined ? null : readEmail(primary.email);
      if (address === null) throw refused('your GitHub account has no primary email address that is verified and in ASCII');
      const { login, name } = Account.parse(await get('/user'));
      return { email: address, name: name ?? login, ...(readsTeams && { groups: await groupsOf(get) }) };
    },
  };
}

/** Returns the names of organizations, `acme`, and of teams, `acme/platform`, in lower case: GitHub does not distinguish it. */
async function groupsOf(get: (path: string) => Promise<unknown>): Promise<string[]> {
  const teams = await allPages(async (query) => Teams.safeParse(await get(`/user/teams?${query}`)).data ?? null);
  const memberships = await allPages(async (query) => Memberships.safeParse(await get(`/user/memberships/orgs?${query}`)).data ?? null);
  const active = memberships.filter(({ state }) => state === 'active').map(({ organization }) => organization.login);
  return [...teams.map(({ slug, organization }) => `${organization.login}/${slug}`), ...active].map((name) => name.toLowerCase());
}

/** Throws `forbidden` if there are more than 2,000: a person must not have fewer groups than GitHub says. */
async function allPages<Item>(read: (query: string) => Promise<Item[] | null>): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const items = await read(`per_page=${perPage}&page=${page}`);
    if (items === null) throw refused('GitHub did not list your organizations and teams');
    all.push(...items);
    if (items.length < perPage) return all;
  }
  throw refused('you are in too many teams at GitHub');
}
