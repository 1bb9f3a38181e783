/** The hosts of secrets that a project gives no hosts: those of its servers and providers that name the secret. A command has the host `NAME.stdio`. */
import { keySecretsOf } from '../../core/model/provider.ts';
import { knownBaseUrl } from '../../core/names/provider-kind.ts';
import { invalidRequest, type Issue, nullIfNotFound } from '../../core/problem.ts';
import type { HiddenValue } from '../../core/secrets/hidden-values.ts';
import type { Project } from '../../core/project/project.ts';
import { callUrlOf } from '../../core/servers/server.ts';
import type { SecretBinding } from '../../core/secrets/secret.ts';
import type { CatalogPort } from '../../ports/catalog.ts';

/** Returns the project with the hosts of all secrets that have a value. Throws `invalid_request` for one whose hosts are unknown. */
export async function withSecretHosts(catalog: Pick<CatalogPort, 'get'>, project: Project): Promise<Project> {
  const { secrets } = project;
  if (secrets === undefined) return project;
  const used = hostsInUse(project);
  const issues: Issue[] = [];
  const complete: NonNullable<Project['secrets']> = {};
  for (const [name, secret] of Object.entries(secrets)) {
    const hosts = secret.hosts ?? [...(used.get(name) ?? [])];
    if (hosts.length > 0 || secret.value === undefined) complete[name] = { ...secret, ...(hosts.length > 0 && { hosts }) };
    else {
      const stored = await nullIfNotFound(catalog.get('secret', name));
      // Bodies of secrets were parsed by the schema when they were written.
      if (stored !== null) complete[name] = { ...secret, hosts: (stored.body as SecretBinding).hosts };
      else issues.push({ path: `secrets.${name}.hosts`, message: 'is missing, and no server or provider of the project sends the secret' });
    }
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...project, secrets: complete };
}

function hostsInUse({ servers = {}, providers = {} }: Project): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  const add = (secret: string, url: string | null): void => {
    if (url === null || !URL.canParse(url)) return;
    used.set(secret, (used.get(secret) ?? new Set()).add(new URL(url).host));
  };
  for (const [name, server] of Object.entries(servers)) {
    const url = callUrlOf({ ...server, name });
    const command = server.kind === 'mcp' ? [...(server.args ?? []), ...Object.values(server.env ?? {})] : [];
    const sent = [...Object.values(server.headers ?? {}), ...Object.values(server.query ?? {})];
    for (const secret of [...secretsIn(sent), ...secretsIn(command)]) add(secret, url);
  }
  for (const provider of Object.values(providers)) {
    const url = knownBaseUrl(provider);
    const secrets = [...secretsIn(Object.values(provider.headers ?? {})), ...keySecretsOf(provider).map((key) => key.secret)];
    for (const secret of secrets) add(secret, url);
  }
  return used;
}

function secretsIn(values: readonly (string | { secret: string } | HiddenValue)[]): string[] {
  return values.flatMap((value) => (typeof value === 'string' || 'hidden' in value ? [] : [value.secret]));
}
