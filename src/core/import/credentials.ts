/**
 * Recognizes credentials in the files of other systems, so that an import stores them as secrets: by the name of a variable, header, option
 * or query parameter, and by the form of the value. It prefers a secret too many to one too few.
 */

/** Whether a variable, header, option or parameter of this name contains a credential. */
export function isCredentialName(name: string): boolean {
  const words = name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  if (plainEnds.has(last)) return false;
  if (last === 'key') return !plainKeys.has(words.at(-2) ?? '');
  return words.some((word) => credentialWords.has(word)) || credentialEnds.test(words.join(''));
}

/** Whether a value of a credential's name is one: numbers, switches and paths of files are not. */
export function isCredentialFor(name: string, value: string): boolean {
  if (isCredentialValue(value)) return true;
  if (!isCredentialName(name) || /^(\d{0,7}|true|false|yes|no|on|off|none|null)$/i.test(value)) return false;
  return !/^(?:~|\.{0,2})[/\\][^\s]*\.\w{1,5}$|^[A-Za-z]:[\\/]/.test(value);
}

/** Whether a text has the form of a known credential, or contains one. */
export function isCredentialValue(value: string): boolean {
  return value.length <= 64_000 && valueForms.some((form) => form.test(value));
}

/** Whether a value stands for one that a person has to fill in: `<your token>`, `YOUR_API_KEY`. */
export function isPlaceholder(value: string): boolean {
  const text = value.replace(/^(Bearer|Basic|token)\s+/i, '');
  return /^<.*>$|^\[.*\]$|^(your|my|insert|enter|replace|put|add)[-_ ]?\w*(key|token|secret|password|pat|here)\w*$|^(x{3,}|\*{3,}|\.{3,}|changeme|todo|placeholder)$/i.test(
    text.trim().slice(0, 200),
  );
}

/** Returns the names of query parameters that contain credentials, and whether the URL has a user or password. */
export function credentialsInUrl(url: URL): { parameters: string[]; hasUser: boolean } {
  const parameters = [...new Set([...url.searchParams].filter(([name, value]) => isQueryCredential(name, value)).map(([name]) => name))];
  return { parameters, hasUser: url.username !== '' || url.password !== '' };
}

/** Returns the positions of arguments that contain a credential: `--api-key x`, `--token=x`, `-H 'Authorization: …'`, `KEY=x`, a URL with one. */
export function credentialArguments(args: readonly string[]): Set<number> {
  const found = new Set<number>();
  for (const [index, argument] of args.entries()) {
    const [, option, value] = /^--?([A-Za-z][\w.-]*)=([\s\S]+)$/.exec(argument) ?? [];
    const [, variable, given] = /^([A-Za-z_]\w*)=([\s\S]+)$/.exec(argument) ?? [];
    const [, header, sent] = /^([A-Za-z][\w-]*):\s*([\s\S]+)$/.exec(argument) ?? [];
    const before = /^--?([A-Za-z][\w.-]*)$/.exec(args[index - 1] ?? '')?.[1];
    if (
      isCredentialValue(argument) ||
      isUrlWithCredential(argument) ||
      (option !== undefined && isCredentialFor(option, value ?? '')) ||
      (variable !== undefined && isCredentialFor(variable, given ?? '')) ||
      (header !== undefined && !argument.includes('://') && isCredentialFor(header, sent ?? '')) ||
      (before !== undefined && before.length > 1 && !argument.startsWith('-') && isCredentialFor(before, argument))
    )
      found.add(index);
  }
  return found;
}

function isUrlWithCredential(text: string): boolean {
  const found = /^(?:--?[A-Za-z][\w.-]*=)?([a-z][a-z0-9+.-]*:\/\/\S+)$/i.exec(text)?.[1];
  if (found === undefined || !URL.canParse(found)) return false;
  const { parameters, hasUser } = credentialsInUrl(new URL(found));
  return parameters.length > 0 || (hasUser && new URL(found).password !== '');
}

function isQueryCredential(name: string, value: string): boolean {
  return value !== '' && (isCredentialFor(name, value) || /^(key|sig|signature|code)$/i.test(name));
}

const credentialWords: ReadonlySet<string> = new Set([
  'token',
  'secret',
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'pat',
  'credential',
  'credentials',
  'apikey',
  'authorization',
  'bearer',
  'cookie',
  'dsn',
]);

/** `PUBLIC_KEY`, `PRIMARY_KEY`: other keys are credentials. */
const plainKeys: ReadonlySet<string> = new Set([
  'public',
  'primary',
  'foreign',
  'sort',
  'partition',
  'cache',
  'hot',
  'publishable',
  'index',
]);

const credentialEnds = /auth$|apikey|accesstoken|connectionstring|databaseurl|dburi|mongouri|redisurl|postgresurl|pgpassword$/;

/** `TOKEN_LIMIT`, `MAX_TOKENS`, `SECRET_NAME`, `API_KEY_FILE`: about a credential, not one. */
const plainEnds: ReadonlySet<string> = new Set([
  'limit',
  'limits',
  'tokens',
  'count',
  'budget',
  'file',
  'path',
  'dir',
  'directory',
  'name',
  'id',
  'type',
  'mode',
  'ttl',
  'expiry',
  'endpoint',
  'header',
  'env',
]);

const valueForms: readonly RegExp[] = [
  /^(?:Bearer|Basic|Token|ApiKey)\s+\S{6,}/i,
  /\b(?:sk|pk|rk)[-_](?:ant-|proj-|or-|live_|test_|lf-)?[A-Za-z0-9_-]{16,}/,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}/,
  /\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}/,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}/,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/,
  /\b(?:hf|gsk|tvly|npm|ntn|secret|figd|fc|dop_v1|shpat|lin_api|patn|pplx|xai|nvapi|r8|SG)[-_.](?:dev-)?[A-Za-z0-9_-]{20,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
];
