/**
 * What each setting may be: a start, and `moniker doctor`, name every one that cannot be used, with what to write instead. The Worker itself
 * reads leniently (`core/people/settings.ts`), since a deployed one must respond whatever its variables are. A test compares the names with
 * those that the help lists.
 */
import { isIP } from 'node:net';
import { readGroupMap } from '../../core/people/group-map.ts';
import { readRedirectSchemes } from '../../core/people/redirect-uri.ts';
import { minKeyLength } from '../../core/people/missing-keys.ts';
import { maxAuditShards } from '../../core/people/settings.ts';
import { maxDelayMs } from '../../core/telemetry/telemetry-settings.ts';
import { Problem } from '../../core/problem.ts';
import { createGuard } from '../../net/guard.ts';
import { ollamaAddress } from './ollama.ts';

/** Returns what to do, one or more sentences; null: the value can be used. The value is trimmed and not empty. */
type Check = (value: string, name: string) => string | null;

const anyText: Check = () => null;

function rule(isValid: (value: string) => boolean, advice: string): Check {
  return (value) => (isValid(value) ? null : advice);
}

function oneOf(...values: readonly string[]): Check {
  return rule((value) => values.includes(value), `Use ${values.join(' or ')}, or omit it.`);
}

/** Longer than any turn that a person waits for. */
const maxDrainSeconds = 3_600;

function number(min: number, max: number, advice: string, isWhole = true): Check {
  return rule((value) => Number(value) >= min && Number(value) <= max && (!isWhole || Number.isInteger(Number(value))), advice);
}

/** Comma-separated: the first entry that cannot be used is named. */
function each(check: Check): Check {
  return (list, name) => {
    for (const entry of list.split(',').map((text) => text.trim())) {
      const advice = entry === '' ? null : check(entry, name);
      if (advice !== null) return `${JSON.stringify(entry)} cannot be used: ${advice}`;
    }
    return null;
  };
}

const flag = rule((value) => /^(?:on|off|true|false|1|0)$/i.test(value), 'Use on or off.');
const secretKey: Check = (value, name) =>
  value.length >= minKeyLength
    ? null
    : `It has ${value.length} characters, and needs at least ${minKeyLength}. Try: ${name}=$(openssl rand -hex 32)`;
const apiKey = rule((value) => /^[\x21-\x7e]+$/.test(value), 'It has spaces or characters that no key has. Copy it again.');
/** RFC 6749, appendix A.2. */
const clientSecret = rule((value) => /^[\x20-\x7e]+$/.test(value), 'It has characters that no secret of a client has. Copy it again.');
const webUrl = rule((value) => {
  const url = URL.parse(value);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  );
}, 'Use an http(s) URL without a password and a query, such as https://moniker.example.com.');
const origin = rule(
  (value) =>
    value === 'null' ||
    (/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/.test(value) && (!/^https?:/.test(value) || URL.parse(value)?.origin === value)),
  'Use the origin as browsers send it, without a path, such as https://app.example.com.',
);

const groups: Check = (text, setting) => problemOf(() => readGroupMap({ groups: { setting, text } }));
const privateHosts: Check = (pattern) =>
  problemOf(() => createGuard({ allowPrivateHosts: [pattern], publicUrl: null })) === null
    ? null
    : 'use host:port, such as 127.0.0.1:* or providers:ollama.internal:11434.';
const redirectSchemes: Check = (list) => {
  const { refused } = readRedirectSchemes(list.split(',').filter((entry) => entry.trim() !== ''));
  return refused.length === 0 ? null : `${refused.join('; ')}. Use schemes such as default,my-app, or none.`;
};

function problemOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}

export function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) <= 65_535;
}

export function isHost(text: string): boolean {
  return text === 'localhost' || isIP(text) !== 0;
}

export const portAdvice = 'Use a number from 0 (any free port) to 65535.';
export const hostAdvice = 'Use an IP address: 127.0.0.1, or 0.0.0.0 for all networks of this machine.';

export const settingChecks: Readonly<Record<string, Check>> = {
  PORT: rule(isPort, portAdvice),
  MONIKER_HOST: rule(isHost, hostAdvice),
  MONIKER_DATA_DIR: anyText,
  MONIKER_URL: webUrl,
  MONIKER_KEY: apiKey,
  MONIKER_WORKSPACE: anyText,
  MONIKER_PROJECT: anyText,
  MONIKER_SKILLS_DIR: anyText,
  MONIKER_ROOT_KEY: secretKey,
  MONIKER_MASTER_KEY: secretKey,
  MONIKER_MASTER_KEY_PREVIOUS: secretKey,
  OLLAMA_HOST: rule((value) => ollamaAddress(value) !== null, 'Use host:port, such as 127.0.0.1:11434.'),
  MONIKER_PUBLIC_URL: webUrl,
  MONIKER_ALLOWED_ORIGINS: each(origin),
  MONIKER_ALLOW_PRIVATE_HOSTS: each(privateHosts),
  MONIKER_OAUTH_REDIRECT_SCHEMES: redirectSchemes,
  MONIKER_TRUSTED_PROXY_HEADER: rule((value) => /^[\w-]+$/.test(value), 'Use the name of a header, such as x-forwarded-for.'),
  MONIKER_ALLOW_STDIO: oneOf('api'),
  MONIKER_ALIASES: oneOf('on', 'off'),
  MONIKER_DRAIN_SECONDS: number(0, maxDrainSeconds, `Use a whole number of seconds from 0 to ${maxDrainSeconds}.`),
  MONIKER_AUDIT_SHARDS: number(1, maxAuditShards, `Use a whole number from 1 to ${maxAuditShards}.`),
  MONIKER_OIDC_ISSUER: webUrl,
  MONIKER_OIDC_CLIENT_ID: anyText,
  MONIKER_OIDC_CLIENT_SECRET: clientSecret,
  MONIKER_OIDC_NAME: anyText,
  MONIKER_GOOGLE_CLIENT_ID: anyText,
  MONIKER_GOOGLE_CLIENT_SECRET: clientSecret,
  MONIKER_GITHUB_CLIENT_ID: anyText,
  MONIKER_GITHUB_CLIENT_SECRET: clientSecret,
  MONIKER_GITHUB_URL: webUrl,
  MONIKER_ACCESS_TEAM: anyText,
  MONIKER_ACCESS_AUD: anyText,
  MONIKER_OIDC_GROUPS: groups,
  MONIKER_GOOGLE_GROUPS: groups,
  MONIKER_GITHUB_GROUPS: groups,
  MONIKER_ACCESS_GROUPS: groups,
  MONIKER_OWNER_EMAILS: each(rule((value) => /^[^@\s]+@[^@\s]+$/.test(value), 'use an email, such as ada@example.com.')),
  MONIKER_LOG: rule((value) => /^(?:error|info|debug)$/.test(value), 'Use error, info or debug.'),
  MONIKER_METRICS: flag,
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl,
  OTEL_EXPORTER_OTLP_HEADERS: each(rule((value) => /^[\w-]+\s*=/.test(value), 'use name=value.')),
  OTEL_SERVICE_NAME: anyText,
  OTEL_TRACES_SAMPLER_ARG: number(0, 1, 'Use a number from 0 to 1.', false),
  OTEL_BSP_SCHEDULE_DELAY: number(0, maxDelayMs, `Use milliseconds from 0 to ${maxDelayMs}.`, false),
  OTEL_SDK_DISABLED: flag,
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag,
  OPENAI_API_KEY: apiKey,
  ANTHROPIC_API_KEY: apiKey,
  GEMINI_API_KEY: apiKey,
  COHERE_API_KEY: apiKey,
};

/** Their values are not repeated: terminals and service managers store output. */
const hidden = /KEY|SECRET|HEADERS/;
const maxShownLength = 100;

/** Without all of these, the other settings that begin alike have no effect. */
const together = [
  ['MONIKER_OIDC_ISSUER', 'MONIKER_OIDC_CLIENT_ID'],
  ['MONIKER_GOOGLE_CLIENT_ID', 'MONIKER_GOOGLE_CLIENT_SECRET'],
  ['MONIKER_GITHUB_CLIENT_ID', 'MONIKER_GITHUB_CLIENT_SECRET'],
  ['MONIKER_ACCESS_TEAM', 'MONIKER_ACCESS_AUD'],
] as const;

/** Returns why settings cannot be used, each with its name and what to do. */
export function settingFaults(environment: NodeJS.ProcessEnv): string[] {
  const given = Object.entries(settingChecks).flatMap(([name, check]): [string, string, Check][] => {
    const value = environment[name]?.trim();
    return value ? [[name, value, check]] : [];
  });
  const invalid = given.flatMap(([name, value, check]) => {
    const advice = check(value, name);
    const shown = hidden.test(name) ? 'cannot be used' : `is ${JSON.stringify(value.slice(0, maxShownLength))}, which cannot be used`;
    return advice === null ? [] : [`${name} ${shown}. ${advice}`];
  });
  const incomplete = together.flatMap((names) => {
    const begin = /^MONIKER_[A-Z]+_/.exec(names[0])?.[0] ?? '';
    const set = given.find(([name]) => name.startsWith(begin))?.[0];
    const missing = names.filter((name) => !environment[name]?.trim());
    return set === undefined || missing.length === 0
      ? []
      : [`${set} has no effect without ${missing.join(' and ')}. Set it too, or omit all.`];
  });
  return [...invalid, ...incomplete];
}
