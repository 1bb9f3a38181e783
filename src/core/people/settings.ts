/** The operator's settings, read once from the environment or the Worker's vars and secrets (contract §13). */

import { type IdentityProvider, readIdentityProviders } from './identity-provider.ts';
import { readTelemetrySettings, type TelemetrySettings } from '../telemetry/telemetry-settings.ts';

export type LogLevel = 'error' | 'info' | 'debug';

export type Settings = {
  /** null: off. */
  telemetry: TelemetrySettings | null;
  /** null: the service responds 503 `not_configured`. */
  rootKey: string | null;
  masterKey: string | null;
  /** Read only: what it sealed and signed is accepted until it is sealed and signed again. */
  previousMasterKey: string | null;
  publicUrl: string | null;
  /** The URL that `npm start` listens on; null if deployed. Set by the launcher, not by the operator. */
  localUrl: string | null;
  /** The token of the launcher, and its bridge to stdio servers (`local/stdio/`); null if deployed. Set by the launcher. */
  launcher: { token: string; bridgeUrl: string } | null;
  /** Keys with the scope `admin` may add servers that run a command of this machine. */
  allowStdio: boolean;
  allowedOrigins: readonly string[];
  /** The request header in which a trusted proxy sends the address of the client, in lower case; null: none is trusted. */
  trustedProxyHeader: string | null;
  /** Patterns of `MONIKER_ALLOW_PRIVATE_HOSTS`, unparsed; `net/guard.ts` parses them. */
  allowPrivateHosts: readonly string[];
  /** Who says who a person is; none: people sign in with the root key only. */
  identityProviders: readonly IdentityProvider[];
  /** Become owners of the workspace `default` when they sign in. In lower case. */
  ownerEmails: readonly string[];
  /** Private-use schemes of the redirect URIs of MCP clients, as in the setting (`core/people/redirect-uri.ts`). */
  redirectSchemes: readonly string[];
  aliases: boolean;
  /** The number of audit shards that new rows are spread over. */
  auditShards: number;
  log: LogLevel;
  /** Keys of well-known providers found in the environment: provider name → key. */
  providerKeys: ReadonlyMap<string, string>;
  /** Base URL of a local Ollama that `npm start` found, if any. */
  ollamaUrl: string | null;
  /**
   * The Catalog closes its database after a deletion, so that no file contains the deleted data. Set where the files are on this
   * machine.
   */
  closeAfterDelete: boolean;
};

/** Shorter root keys are refused because they can be guessed. */
export const minRootKeyLength = 32;

const providerKeyNames: readonly [variable: string, provider: string][] = [
  ['OPENAI_API_KEY', 'openai'],
  ['ANTHROPIC_API_KEY', 'anthropic'],
  ['GEMINI_API_KEY', 'gemini'],
  ['COHERE_API_KEY', 'cohere'],
];

export function readSettings(environment: { readonly [name: string]: unknown }): Settings {
  const text = (name: string): string | null => {
    const value = environment[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  };
  const list = (name: string): string[] =>
    (text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  const rootKey = text('MONIKER_ROOT_KEY');
  const level = text('MONIKER_LOG');
  const [launcherToken, bridgeUrl] = [text('MONIKER_LAUNCHER_TOKEN'), text('MONIKER_STDIO_URL')];
  return {
    telemetry: readTelemetrySettings(text),
    rootKey: rootKey !== null && rootKey.length >= minRootKeyLength ? rootKey : null,
    masterKey: text('MONIKER_MASTER_KEY'),
    previousMasterKey: text('MONIKER_MASTER_KEY_PREVIOUS'),
    publicUrl: text('MONIKER_PUBLIC_URL'),
    localUrl: text('MONIKER_LOCAL_URL'),
    launcher: launcherToken === null || bridgeUrl === null ? null : { token: launcherToken, bridgeUrl },
    allowStdio: text('MONIKER_ALLOW_STDIO') === 'api',
    allowedOrigins: list('MONIKER_ALLOWED_ORIGINS'),
    trustedProxyHeader:
      text('MONIKER_TRUSTED_PROXY_HEADER')
        ?.toLowerCase()
        .replace(/[^a-z0-9_-]/g, '-') ?? null,
    allowPrivateHosts: list('MONIKER_ALLOW_PRIVATE_HOSTS'),
    identityProviders: readIdentityProviders(text),
    ownerEmails: list('MONIKER_OWNER_EMAILS').map((email) => email.toLowerCase()),
    redirectSchemes: list('MONIKER_OAUTH_REDIRECT_SCHEMES'),
    aliases: text('MONIKER_ALIASES') !== 'off',
    auditShards: readShards(text('MONIKER_AUDIT_SHARDS')),
    log: level === 'error' || level === 'debug' ? level : 'info',
    providerKeys: new Map(
      providerKeyNames.flatMap(([variable, provider]) => {
        const key = text(variable);
        return key === null ? [] : [[provider, key] as const];
      }),
    ),
    ollamaUrl: text('MONIKER_OLLAMA_URL'),
    closeAfterDelete: text('MONIKER_CLOSE_AFTER_DELETE') === 'on',
  };
}

const defaultAuditShards = 8;
export const maxAuditShards = 32;

/** An invalid number counts as absent. */
function readShards(value: string | null): number {
  const shards = Number(value);
  return Number.isInteger(shards) && shards >= 1 && shards <= maxAuditShards ? shards : defaultAuditShards;
}

/** Returns MONIKER_PUBLIC_URL without a trailing slash; null: not set, or not an http(s) URL. */
export function publicBase(publicUrl: string | null): string | null {
  const url = publicUrl === null ? null : URL.parse(publicUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
