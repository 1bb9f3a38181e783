/**
 * The built-in redaction rules. Every search is linear: an expression begins only at the start of a run of its characters (lookbehind), its
 * parts cannot match the same character in two ways, and repetitions are bounded.
 */
import type { RedactionRule } from './redaction.ts';
import type { SearchStep, TextRule } from './redact-text.ts';

type Accept = (match: string) => boolean;

/** Characters that are searched at once, and with them the longest match and what is after it. */
const pieceLength = 128 * 1024;
const longestMatch = 21_000;
/** Work for each character, and for each match of an expression, which may be rejected. */
const characterWork = 0.3;
const matchWork = 25;

function* matchesOf(text: string, expression: RegExp, accept: Accept = () => true): Generator<SearchStep> {
  for (const found of search(text, expression)) {
    if (typeof found === 'number') yield found;
    else if (accept(found.match)) yield [found.index, found.index + found.match.length];
  }
}

/** Finds the matches of an expression, which looks at no more than one character before a match. Yields the work between them. */
function* search(text: string, expression: RegExp): Generator<{ match: string; index: number } | number> {
  for (let from = 0; from < text.length; ) {
    const end = from + pieceLength;
    const start = Math.max(0, from - 1);
    const piece = text.slice(start, end + longestMatch);
    yield Math.min(pieceLength, text.length - from) * characterWork;
    for (;;) {
      // Set each time: other searches use the same expression meanwhile.
      expression.lastIndex = from - start;
      const found = expression.exec(piece);
      const index = found === null ? end : start + found.index;
      if (found === null || index >= end) break;
      from = index + found[0].length;
      yield matchWork;
      yield { match: found[0], index };
    }
    from = Math.max(from, end);
  }
}

/** Returns the built-in rules of these names. Rules with a checksum come first: a card number may look like a phone number. */
export function builtinRules(names: readonly RedactionRule[]): TextRule[] {
  return order.filter((name) => names.includes(name)).map((name) => finders[name]);
}

const order: readonly RedactionRule[] = ['secret', 'email', 'iban', 'card', 'ssn', 'ip', 'phone'];

const finders: { readonly [Name in RedactionRule]: TextRule } = {
  secret: { name: 'secret', label: '[secret]', find: (text) => matchesOf(text, tokens) },
  email: { name: 'email', label: '[email]', find: findEmails },
  iban: { name: 'iban', label: '[iban]', find: findIbans },
  card: { name: 'card', label: '[card]', find: findCards },
  ssn: { name: 'ssn', label: '[ssn]', find: (text) => matchesOf(text, ssn) },
  ip: { name: 'ip', label: '[ip]', find: (text) => matchesOf(text, address, isAddress) },
  phone: { name: 'phone', label: '[phone]', find: (text) => matchesOf(text, phone) },
};

/** Formats from the documentation of OpenAI, Stripe, GitHub, GitLab, AWS, Google, Slack, npm, Standard Webhooks and Moniker; JSON Web Tokens; private keys in
 * PEM, also with escaped line breaks. */
const tokens =
  /(?<![\w-])(?:sk-[\w-]{20,250}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,250}|gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}|glpat-[\w-]{20,64}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|xox[abeoprs]-[\w-]{10,250}|npm_[A-Za-z0-9]{36}|whsec_[A-Za-z0-9+/]{16,250}={0,2}|mk_[a-z0-9-]{1,64}_\w{20,250}|eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000})|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\\\s]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g;

const ssn = /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g;

/** International with `+`, or ten digits in the groups of North America. */
const phone = /(?<![\w+.-])(?:\+\d(?:[ .()/-]{0,2}\d){6,14}|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})(?!\w)/g;

const address =
  /(?<![\w:.])(?:(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}(?:(?:\.\d{1,3}){3})?(?![\w:]|\.\d))/g;

/** Without a digit, `a::b` is more likely a name in a program. */
function isAddress(match: string): boolean {
  if (match.includes(':')) return /\d/.test(match) && URL.canParse(`http://[${match}]/`);
  return match.split('.').every((part) => Number(part) <= 255);
}

const maxLocalLength = 64;
const localCharacter = /[\p{L}\p{N}._%+'-]/u;
/** Sticky: read where the `@` is. */
const mailDomain = /@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}])/uy;

/** Of one domain that is read and does not match. */
const domainWork = 15;

function* findEmails(text: string): Generator<SearchStep> {
  let from = 0;
  // The search for `@` takes almost no time.
  yield text.length / 100;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > from && at - start < maxLocalLength && localCharacter.test(text[start - 1] ?? '')) start -= 1;
    yield domainWork + (at - start) * spacedWork;
    mailDomain.lastIndex = at;
    const domain = start === at ? null : mailDomain.exec(text);
    if (domain === null) continue;
    from = at + domain[0].length;
    yield [start, from];
  }
}

/** The lengths of IBANs, from the registry of SWIFT (release 99). */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28' +
    'HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29' +
    'RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30'
  )
    .match(/[A-Z]{2}\d{2}/g)
    ?.map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const ibanHead = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}/g;

function* findIbans(text: string): Generator<SearchStep> {
  for (const found of search(text, ibanHead)) {
    if (typeof found === 'number') {
      yield found;
      continue;
    }
    const { match, index } = found;
    const length = ibanLengths.get(match.slice(0, 2)) ?? 0;
    const { characters, ends } = readSpaced(text, index, length, isCapitalOrDigit);
    yield characters.length * spacedWork;
    const end = ends[length - 1];
    if (end !== undefined && !isWordCharacter(text[end]) && isIban(characters)) yield [index, end];
  }
}

/** ISO 7064, mod 97-10. */
function isIban(characters: string): boolean {
  let rest = 0;
  for (const character of characters.slice(4) + characters.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const minCardDigits = 13;
const maxCardDigits = 19;

const cardHead = /(?<![\w.])[2-6](?=\d{3})/g;

function* findCards(text: string): Generator<SearchStep> {
  let from = 0;
  for (const found of search(text, cardHead)) {
    if (typeof found === 'number') {
      yield found;
      continue;
    }
    const { index } = found;
    if (index < from) continue;
    const { characters, ends } = readSpaced(text, index, maxCardDigits, isDigit);
    yield characters.length * spacedWork;
    for (let length = ends.length; length >= minCardDigits; length -= 1) {
      const end = ends[length - 1] ?? 0;
      if (isWordCharacter(text[end]) || !isCard(characters.slice(0, length))) continue;
      from = end;
      yield [index, end];
      break;
    }
  }
}

/** Number ranges and lengths of the large card schemes, so that times and counters are not taken for cards; then the check digit (Luhn). */
function isCard(digits: string): boolean {
  const isRange =
    /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}|6(?:011|4[4-9]\d|5\d\d|2\d\d)\d{12,15})$/;
  if (!isRange.test(digits)) return false;
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    sum += place % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}

/** Of one character that is read and checked. */
const spacedWork = 4;

/** Reads at most `most` characters with single spaces or hyphens between them. `ends`: the position after each of them. */
function readSpaced(
  text: string,
  start: number,
  most: number,
  isAllowed: (code: number) => boolean,
): { characters: string; ends: number[] } {
  let characters = '';
  const ends: number[] = [];
  for (let at = start; ends.length < most; at += 1) {
    const separator = ends.length > 0 && (text[at] === ' ' || text[at] === '-') ? 1 : 0;
    at += separator;
    if (!isAllowed(text.charCodeAt(at))) break;
    characters += text[at];
    ends.push(at + 1);
  }
  return { characters, ends };
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isCapitalOrDigit(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90);
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
