/** Identity providers, which say who a person is. From the operator's settings; pure. */

/** OpenID Connect, with discovery. */
type OidcIdentity = { kind: 'oidc'; id: string; name: string; issuer: string; clientId: string; clientSecret: string | null };
/** OAuth with GitHub's API for the email. `url`: of a GitHub Enterprise Server, or github.com. */
type GitHubIdentity = { kind: 'github'; id: string; name: string; url: string; clientId: string; clientSecret: string };
/** Cloudflare Access in front of this service: each request has a signed header. */
type AccessIdentity = { kind: 'access'; id: string; name: string; issuer: string; audience: string };

/** `groups`: the setting that says what groups give (`group-map.ts`), as it is written; null: they give nothing. */
export type IdentityProvider = (OidcIdentity | GitHubIdentity | AccessIdentity) & { groups: { setting: string; text: string } | null };

/** Returns a text that changes when another service, or another application of it, says who people are. */
export function identityOfProvider(provider: IdentityProvider): string {
  const [service, application] =
    provider.kind === 'github'
      ? [provider.url, provider.clientId]
      : [provider.issuer, provider.kind === 'oidc' ? provider.clientId : provider.audience];
  return JSON.stringify([provider.kind, service, application]);
}

/** `text`: reads a setting. A provider with an incomplete setting is left out. */
export function readIdentityProviders(text: (name: string) => string | null): IdentityProvider[] {
  const all = (...names: string[]): string[] | null => {
    const values = names.map(text);
    return values.every((value) => value !== null) ? (values as string[]) : null;
  };
  const [oidc, google, github, access] = [
    all('MONIKER_OIDC_ISSUER', 'MONIKER_OIDC_CLIENT_ID'),
    all('MONIKER_GOOGLE_CLIENT_ID', 'MONIKER_GOOGLE_CLIENT_SECRET'),
    all('MONIKER_GITHUB_CLIENT_ID', 'MONIKER_GITHUB_CLIENT_SECRET'),
    all('MONIKER_ACCESS_TEAM', 'MONIKER_ACCESS_AUD'),
  ];
  const groupsOf = (setting: string) => {
    const written = text(setting);
    return { groups: written === null ? null : { setting, text: written } };
  };
  const found: IdentityProvider[] = [];
  if (oidc !== null) {
    const [issuer = '', clientId = ''] = oidc;
    const name = text('MONIKER_OIDC_NAME') ?? URL.parse(issuer)?.host ?? issuer;
    found.push({
      kind: 'oidc',
      id: 'oidc',
      name,
      issuer,
      clientId,
      clientSecret: text('MONIKER_OIDC_CLIENT_SECRET'),
      ...groupsOf('MONIKER_OIDC_GROUPS'),
    });
  }
  if (google !== null) {
    const [clientId = '', clientSecret = ''] = google;
    found.push({
      kind: 'oidc',
      id: 'google',
      name: 'Google',
      issuer: 'https://accounts.google.com',
      clientId,
      clientSecret,
      ...groupsOf('MONIKER_GOOGLE_GROUPS'),
    });
  }
  if (github !== null) {
    const [clientId = '', clientSecret = ''] = github;
    const url = (text('MONIKER_GITHUB_URL') ?? 'https://github.com').replace(/\/+$/, '');
    found.push({ kind: 'github', id: 'github', name: 'GitHub', url, clientId, clientSecret, ...groupsOf('MONIKER_GITHUB_GROUPS') });
  }
  if (access !== null) {
    const [team = '', audience = ''] = access;
    // The name of the team, its host, or its URL.
    const host = team.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
    const issuer = /^http:\/\//.test(team) ? team : `https://${host.includes('.') ? host : `${host}.cloudflareaccess.com`}`;
    found.push({ kind: 'access', id: 'access', name: 'Cloudflare Access', issuer, audience, ...groupsOf('MONIKER_ACCESS_GROUPS') });
  }
  return found;
}
