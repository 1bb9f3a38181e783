/**
 * Recognizes credentials by the name of a variable, header, option or query parameter, and by the form of the value. An import stores what it
 * finds as secrets, and GET does not show it in documents (`core/secrets/hidden-values.ts`). It prefers a credential too many to one too few.
 */

/** Whether a variable, header, option or parameter of this name contains a credential. */
export function isCredentialName(name: string): boolean {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (plainEnds.has(last)) return false;
  if (last === 'key' || last === 'keys') return !plainKeys.has(words.at(-2) ?? '');
  return words.some((word) => credentialWords.has(word)) || credentialEnds.test(words.join(''));
}

/** Whether a value of a credential's name is one: numbers, switches, paths of files and plain addresses are not. */
export function isCredentialFor(name: string, value: string): boolean {
  if (isCredentialValue(value)) return true;
  if (!isCredentialName(name) || /^(\d{0,7}|true|false|yes|no|on|off|none|null)$/i.test(value)) return false;
  if (/^https?:\/\//i.test(value) && /^ur[il]$/.test(wordsOf(name).at(-1) ?? '')) return hookWords.test(name);
  return !/^(?:~|\.{0,2})[/\\][^\s]*\.\w{1,5}$|^(?:~|\.{0,2})(?:\/[\w.-]{1,40}){2,}\/?$|^[A-Za-z]:[\\/]/.test(value);
}

/**
 * The same, and also true for a value that looks random, although it may be an id, and for one with a credential in it, as JSON or options
 * have it: for what costs little if it is wrong.
 */
export function mayBeCredential(name: string, value: string): boolean {
  return isCredentialFor(name, value) || looksRandom(value) || isCredentialArgument(value, '');
}

/** Whether a text has the form of a known credential, or contains one. */
export function isCredentialValue(value: string): boolean {
  const text = value.slice(0, maxSearched);
  return valueForms.some((form) => form.test(text)) || isUrlWithCredential(text);
}

/** Of longer texts, such as certificates with their key, the beginning is searched. */
const maxSearched = 64_000;

/** Whether a value stands for one that a person has to fill in: `<your token>`, `YOUR_API_KEY`, `sk-...`, `X-Api-Key: xxx`. */
export function isPlaceholder(value: string): boolean {
  const text = value
    .slice(0, 200)
    .trim()
    .replace(/^(?:--?[A-Za-z][\w.-]*=|[A-Za-z_]\w*=|[A-Za-z][\w-]*:(?!\/\/)\s*){1,2}/, '')
    .replace(/^(Bearer|Basic|token|ApiKey)\s+/i, '');
  return placeholderForms.some((form) => form.test(text));
}

const placeholderForms: readonly RegExp[] = [
  /^<[^<>]*>$|^\[[^[\]]*\]$|^\{\{[^{}]*\}\}$|^\{[\w -]+\}$/,
  /^(?:your|my|insert|enter|replace|put|add|paste)(?:[-_ ]?[\w -]*)?[-_ ]?(?:key|token|secret|password|pass|pat|id|here|me|with|value|credentials?)[\w -]*$/i,
  /^(?:api|access|auth|secret|github|openai)?[-_ ]?(?:key|token|secret|password)[-_ ]?(?:here|goes[-_ ]here|placeholder|value)?$/i,
  // The beginning of a form, and nothing: `sk-...`, `ghp_xxxxxxxx`, `***`.
  /^(?:[A-Za-z0-9]{1,8}[-_]){0,3}(?:x{3,}|X{3,}|\*{3,}|\.{2,}|\u2026)$/,
  /^(?:change[-_ ]?me|todo|tbd|placeholder|example|dummy|redacted|n\/?a)$/i,
];

/** Returns the names of query parameters that contain credentials, and whether the URL has a user or password. */
export function credentialsInUrl(url: URL): { parameters: string[]; hasUser: boolean } {
  const parameters = [...new Set([...url.searchParams].filter(([name, value]) => isQueryCredential(name, value)).map(([name]) => name))];
  return { parameters, hasUser: url.username !== '' || url.password !== '' };
}

/** Whether the path of a URL contains a credential, or what may be one, as those of hooks and hosted MCP servers do. */
export function isCredentialInPath({ origin, pathname }: URL): boolean {
  const path = origin + pathname;
  if (valueForms.some((form) => form.test(path)) || looksRandom(pathname)) return true;
  return pathname.split('/').some((part) => /^(?:sk|rk|pat|key|tok|token|secret)[-_][\w.-]{4,}$/i.test(part));
}

/** Returns the positions of arguments that contain a credential: `--api-key x`, `--token=x`, `-H 'Authorization: …'`, `KEY=x`, a URL with one. */
export function credentialArguments(args: readonly string[]): Set<number> {
  return new Set(args.flatMap((argument, index) => (isCredentialArgument(argument, args[index - 1] ?? '') ? [index] : [])));
}

/** `before`: the argument before it. */
function isCredentialArgument(argument: string, before: string): boolean {
  const [, option = '', value = ''] = /^(?:--?|\/(?!.{0,100}:[/\\]))([A-Za-z][\w.-]{0,100})[=:]([\s\S]+)$/.exec(argument) ?? [];
  const [, variable = '', given = ''] = /^["']?([A-Za-z_][\w.-]{0,100})=([\s\S]+)$/.exec(argument) ?? [];
  const [, header = '', sent = ''] = /^["']?([A-Za-z][\w-]{0,100}):\s*([\s\S]+)$/.exec(argument) ?? [];
  const optionBefore = /^--?([A-Za-z][\w.-]*)$/.exec(before)?.[1] ?? '';
  return (
    isCredentialValue(argument) ||
    isUrlWithCredential(given) ||
    hasNamedCredential(argument) ||
    // Packages and images are named with hashes.
    (!/[@#:]/.test(argument) && looksRandom(argument)) ||
    isCredentialFor(option, value) ||
    // `--env=API_KEY=x`, `--header=X-Api-Key: x`, `--define:TOKEN=x`.
    (value !== '' && !value.startsWith('-') && isCredentialArgument(value, '')) ||
    isCredentialFor(variable, given) ||
    (!argument.includes('://') && (isCredentialFor(header, sent) || (/^.\S*:\s/.test(argument) && looksRandom(sent)))) ||
    (/^["']?(Bearer|Basic)$/i.test(before) && /^\S{0,60}\d/.test(argument)) ||
    (/^(u|user)$/.test(optionBefore) && /^[^\s:/@]{1,60}:(?!\d+$)[^\s:/]{6,}$/.test(argument)) ||
    (optionBefore.length > 1 && !argument.startsWith('-') && isCredentialFor(optionBefore, argument))
  );
}

/** Of the beginning of a script or of options. */
const maxWords = 200;

/** JSON with a credential, also in quotes or with single ones, or a script of a shell: `sh -c 'TOKEN=x server'`. */
function hasNamedCredential(argument: string): boolean {
  const text = argument.slice(0, maxSearched);
  const members = text.matchAll(/["']([\w.-]{1,100})\\{0,2}["']\s{0,20}:\s{0,20}\\{0,2}["']([^"'\\]{1,1000})/g);
  for (const [, name = '', value = ''] of members) if (isCredentialFor(name, value)) return true;
  const words = /^\S+\s+\S/.test(text) ? text.split(/\s+/, maxWords) : [];
  return words.length > 0 && !/^[A-Za-z][\w-]*:$/.test(words[0] ?? '') && credentialArguments(words).size > 0;
}

function isUrlWithCredential(text: string): boolean {
  const url = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text) ? URL.parse(text) : null;
  if (url === null) return false;
  const { parameters, hasUser } = credentialsInUrl(url);
  return parameters.length > 0 || (hasUser && url.password !== '');
}

function isQueryCredential(name: string, value: string): boolean {
  return value !== '' && (isCredentialFor(name, value) || /^(key|sig|signature|code)$/i.test(name));
}

function wordsOf(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

const credentialWords: ReadonlySet<string> = new Set([
  ...['token', 'secret', 'password', 'passwd', 'passphrase', 'passcode', 'pass', 'pwd', 'pw', 'pat', 'credential', 'credentials', 'creds'],
  ...[
    'apikey',
    'auth',
    'authorization',
    'bearer',
    'cookie',
    'dsn',
    'jwt',
    'hmac',
    'otp',
    'totp',
    'seed',
    'mnemonic',
    'signature',
    'webhook',
  ],
]);

/** `PUBLIC_KEY`, `PRIMARY_KEY`: other keys are credentials. */
const plainKeys: ReadonlySet<string> = new Set([
  ...['public', 'primary', 'foreign', 'sort', 'partition', 'cache', 'hot', 'publishable', 'index'],
]);

const credentialEnds =
  /auth$|token$|secret$|password$|passphrase$|apikey$|cookie$|seedphrase$|recoveryphrase$|connectionstring|databaseurl|dburi|mongouri|redisurl|postgresurl|pgpassword$/;

/** `WEBHOOK_URL` has the credential in the address; `TOKEN_URL` is where tokens are requested. */
const hookWords = /hook/i;

/** `TOKEN_LIMIT`, `MAX_TOKENS`, `SECRET_NAME`, `API_KEY_FILE`: about a credential, not one. */
const plainEnds: ReadonlySet<string> = new Set([
  ...['limit', 'limits', 'tokens', 'count', 'budget', 'size', 'length', 'file', 'path', 'dir', 'directory', 'name', 'id', 'type', 'mode'],
  ...['ttl', 'expiry', 'expires', 'endpoint', 'header', 'env', 'enabled', 'host', 'port', 'region', 'issuer', 'audience', 'algorithm'],
  ...['method', 'scope', 'scopes', 'provider', 'store', 'version'],
]);

const valueForms: readonly RegExp[] = [
  /^(?:Bearer|Basic|Token|ApiKey)\s+\S{6,}/i,
  /\b(?:sk|pk|rk)[-_](?:ant-|proj-|or-|live_|test_|lf-)?[A-Za-z0-9_-]{16,}/,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bgl(?:pat|ptt|rt|dt|soat|ft)-[\w-]{16,}/,
  /\bxox[abceoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}/,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{20,}/,
  /(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}\./,
  /\b(?:hf|gsk|tvly|npm|ntn|secret|figd|fc|dop_v1|shp(?:at|ss|ca)|lin_api|patn|pplx|xai|nvapi|r8|SG|sbp|glsa|lsv2|phx|pul|dapi|whsec|jina|csk|sntrys|dckr_pat|pypi|PMAK|hvs|ATATT3x|xkeysib|atlasv1|npg|rnd|fw|tgp|e2b|ctx7sk|apify_api|fio-u)[-_.]?(?:dev-|pt_)?[A-Za-z0-9_=.-]{20,}/,
  /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\bAGE-SECRET-KEY-1\w+/,
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@?#]*:[^\s/?#]+@[^\s@]/i,
  // Connection strings (ADO, ODBC, Azure), and commands with a password.
  /(?:^|[;?&\s])(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature|sharedsecret)\s*=\s*[^;&\s]{3,}/i,
  // Addresses of chat services that accept messages without other credentials.
  /\bhooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/\w|\bdiscord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d+\/\w/i,
  /\bwebhook\.office(?:365)?\.com\/\w|\boutlook\.office(?:365)?\.com\/webhook\/\w|\bapi\.telegram\.org\/bot\d|\bhooks\.zapier\.com\/hooks\/\w|\bmaker\.ifttt\.com\/\S{0,200}\/key\/\w/i,
  // A recovery phrase of 12 to 24 words (BIP 39).
  /^\s*(?:[a-z]{3,8}\s+){11}(?:(?:[a-z]{3,8}\s+){3}){0,4}[a-z]{3,8}\s*$/,
];

/** Whether a text without blanks has a part that no person has written: hexadecimal, base64, or letters and digits mixed. */
function looksRandom(text: string): boolean {
  if (text.length < minRandom || text.length > maxSearched || /\s/.test(text) || ordinaryForms.test(text)) return false;
  if (/^[A-Za-z0-9+/]{32,}={1,2}$/.test(text)) return true;
  // A commit is named in URLs and packages.
  return text.split(/[^A-Za-z0-9]+/).some((part) => isRandomPart(part) && (part === text || !/^[0-9a-f]{40}$/.test(part)));
}

const minRandom = 20;

/** UUIDs, ULIDs, hashes that name what they are of. */
const ordinaryForms = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^[0-9A-HJKMNP-TV-Z]{26}$|\bsha(?:1|256|384|512)[-:]/i;

function isRandomPart(part: string): boolean {
  const letters = new Set(part.toLowerCase());
  if (/^(?:0x)?[0-9a-f]{32,}$/i.test(part)) return letters.size >= 8;
  const digits = part.match(/\d+/g) ?? [];
  return part.length >= minRandom && digits.length >= 2 && letters.size >= 12 && /[A-Za-z]{2}|[A-Za-z]\d[A-Za-z]/.test(part);
}
