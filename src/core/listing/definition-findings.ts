/**
 * Finds texts in a definition that address the model about more than the tool: instructions, role claims, tags of prompts and protocols,
 * other servers' tools, paths of secrets, poisoned parameters. Such a tool requires a review; no rule is proof, and no honest tool needs
 * such texts. The rules read the cleaned definition (`listing-text.ts`), which is what models receive.
 * Known attacks: tool poisoning and line jumping (Invariant Labs, Trail of Bits 2025), full-schema poisoning (CyberArk 2025). All patterns
 * have bounded gaps, so each text is scanned in linear time.
 */
import { type Finding, addFinding } from '../tools/hold.ts';
import { pointer } from '../json/json-pointer.ts';
import { fold } from '../names/fold.ts';
import { limits } from '../limits/limits.ts';
import { quote } from '../names/names.ts';
import { dataKeywords, namedParts } from '../schema/schema-parts.ts';
import type { BareDefinition } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';
import { spaceWords } from '../names/name-words.ts';

/** Returns findings that require a review. `listed`: the folded names of all tools of the listing, which may mention each other. */
export function findSuspicions(definition: BareDefinition, listed: ReadonlySet<string>): Finding[] {
  const findings: Finding[] = [];
  const known = new Set([...listed, ...parameterNames(definition.inputSchema)]);
  readText(findings, '/name', definition.name, known);
  readText(findings, '/description', definition.description, known);
  if (definition.annotations?.title !== undefined) readText(findings, '/annotations/title', definition.annotations.title, known);
  readSchema(findings, '/inputSchema', definition.inputSchema, known);
  if (definition.outputSchema !== undefined) readSchema(findings, '/outputSchema', definition.outputSchema, known);
  return findings;
}

/** Returns advisory findings. They hold no tool, and the policy does not use them. */
export function findAdvisories(definition: BareDefinition): Finding[] {
  if (definition.annotations?.readOnlyHint !== true || !hasMutatingName(definition.name)) return [];
  const message = 'claims to be read-only, but its name has a verb of change: check it before you accept its annotations';
  return [{ finding: 'hint-contradicts-name', path: '/annotations/readOnlyHint', message }];
}

type Rule = { finding: string; pattern: RegExp; message: string };

/** Rules for texts anywhere in the definition. */
const textRules: readonly Rule[] = [
  {
    finding: 'protocol-tag',
    // A text about completions may name the token that ends a document; it opens no turn.
    pattern:
      /<\/?(?:tool_calls?|function_calls?|tool_response|tool_results?|function_results?|antml:|invoke\s|function=)|<\|(?!endoftext\|>(?:$|[`'"]| (?:is|token)\b))[\w ]{1,30}\|>|\[\/?(?:TOOL_CALLS|INST|AVAILABLE_TOOLS|TOOL_RESULTS)\]|<<SYS>>|<｜/i,
    message: 'contains tags that models use to write tool calls or turns',
  },
  {
    finding: 'pseudo-tag',
    pattern:
      /<\/?(?:important|system|system[-_]prompt|system[-_]reminder|instructions?|critical|mandatory|override|priority)(?:\s[^<>]{0,100})?>|<\/(?:description|tools?|functions?|secret|hidden|admin|prompt|user|assistant|human)\s?>/i,
    message: 'contains tags that look like the structure of a prompt',
  },
  {
    finding: 'role-claim',
    pattern:
      /(?:^|[.!?\n])\s{0,10}(?:SYSTEM|ASSISTANT|DEVELOPER|ADMIN)(?: (?:MESSAGE|PROMPT|NOTE|OVERRIDE))?\s?:\s{0,3}(?:[\w,'’]{1,20} ){0,4}?(?:you|your|ignore|always|never|from now|must|new policy|do not|don't)\b/,
    message: 'claims to be the system or another role',
  },
  {
    finding: 'overrides-instructions',
    // An API that runs agents may describe the argument that replaces the instructions of one.
    pattern:
      /\b(?:ignore|disregard|forget|override)\s(?!the default (?:system )?(?:message|prompt|instructions) (?:of|for) (?:the|an) (?:assistant|agent|run)\b)(?:\w{1,12}\s){0,3}?(?:previous|prior|above|earlier|preceding|existing|system|your|safety)\s(?:\w{1,12}\s){0,2}?(?:instructions?|rules?|polic(?:y|ies)|prompts?|guidelines?|messages?)\b/i,
    message: 'instructs the model to ignore its instructions',
  },
  {
    finding: 'hides-from-user',
    pattern:
      /\b(?:do not|don['’]t|never)\s(?:mention|tell|inform|notify|reveal|disclose|alert)\s(?:this|it|that|any of this|the user|users?|anyone|anybody|them)\b|\bwithout (?:telling|informing|notifying|alerting) the user\b/i,
    message: 'instructs the model to hide something from the user',
  },
  {
    finding: 'skips-approval',
    pattern:
      /(?<!(?:\b(?:not|never|cannot)|n['’]t)(?:\s\w{1,12}){0,3}\s)\b(?:skip|bypass|suppress)\s(?:\w{1,12}\s){0,3}?(?:confirmations?|approvals?|permission (?:checks?|prompts?)|safety checks?)\b/i,
    message: 'instructs the model to act without approval',
  },
  {
    finding: 'secret-path',
    pattern:
      /\b(?:reads?|read_file|reading|pass|send|include|including|upload|cat|attach|contents? of|copy|leak|provide|fetch|open)\b[^\n]{0,60}?(?:(?:^|[\s"'`(/])\.env\b(?!\.(?:example|sample|template))|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|~\/\.(?:ssh|aws|gnupg|kube|docker|cursor|claude)\b|\.aws\/credentials|\/etc\/(?:passwd|shadow)|\.(?:npmrc|netrc|pgpass|git-credentials)\b|\bmcp\.json\b)/i,
    message: 'mentions reading a file that contains secrets',
  },
  {
    finding: 'collects-conversation',
    pattern:
      /\b(?:contents?|cop(?:y|ies)|text|transcript|history|summary|all|everything)\b[^\n.]{0,40}?\b(?:every|all|any|each)\s(?:\w{1,12}\s){0,2}?(?:files?|messages?|secrets?|keys?|tokens?|passwords?)\s(?:you\s|that was\s|were\s)?(?:read|seen|sent|opened|received|mentioned|known)\b/i,
    message: 'asks for other content of the conversation',
  },
];

/**
 * Rules for parameters only: a tool may mention a conversation, but one that needs the whole conversation says so in its own description.
 */
const parameterRules: readonly Rule[] = [
  {
    finding: 'suspicious-parameter',
    pattern:
      /\b(?:full|entire|whole|complete|current)\s(?:\w{1,12}\s){0,1}?(?:conversation|chat|context window|system prompt|prompt history|session history)\b|\b(?:your|the) (?:own )?(?:system prompt|chain of thought|list of (?:all )?(?:your |available )?tools)\b|\brequired by (?:polic(?:y|ies)|the system|security|compliance)\b[^\n]{0,60}?\b(?:contents?|conversation|files?|keys?|tokens?|passwords?|secrets?)\b/i,
    message: 'asks for data that the tool does not need',
  },
];

function readText(findings: Finding[], path: string, text: string, known: ReadonlySet<string>): void {
  for (const { finding, pattern, message } of textRules) if (pattern.test(text)) addFinding(findings, { finding, path, message });
  const other = otherTool(text, known);
  if (other !== null) {
    addFinding(findings, {
      finding: 'other-tool-mention',
      path,
      message: `gives instructions for ${quote(other)}, which is not a tool of this server`,
    });
  }
}

/**
 * Returns a tool that is not in the listing but that the text gives an order about: `when the tool send_message is available, set …`,
 * `always call export_all first`. null: none.
 */
function otherTool(text: string, known: ReadonlySet<string>): string | null {
  for (const match of text.matchAll(toolMentions)) {
    const name = match[1] ?? match[2] ?? '';
    if (known.has(fold(name))) continue;
    const around = text.slice(Math.max(0, match.index - 60), match.index + match[0].length + 60);
    if (orders.test(around)) return name;
  }
  return null;
}

const toolMentions =
  /\b(?:the )?tool\s["'`]?([a-z][\w-]{0,60}[_-][\w-]{1,60})|\b(?:call|invoke|run|execute)\s(?:the\s)?["'`]?([a-z][a-z0-9]{0,30}_[a-z0-9_]{1,60})/gi;

const orders = /\b(?:always|every time|whenever|afterwards|is available|set its|instead of|secretly|silently|before (?:any|every|each))\b/i;

function readSchema(findings: Finding[], path: string, schema: unknown, known: ReadonlySet<string>): void {
  const waiting: { part: unknown; path: string; isByName: boolean }[] = [{ part: schema, path, isByName: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { part, path: here, isByName } = next;
    if (typeof part !== 'object' || part === null) continue;
    if (isRecord(part)) readPart(findings, here, part, known);
    for (const [key, member] of Object.entries(part)) {
      // A parameter may be named `default`.
      const isData = !isByName && dataKeywords.has(key);
      if (typeof member === 'object' && !isData)
        waiting.push({ part: member, path: pointer(here, key), isByName: !isByName && namedParts.has(key) });
    }
  }
}

function readPart(findings: Finding[], path: string, part: Record<string, unknown>, known: ReadonlySet<string>): void {
  for (const keyword of ['description', 'title', '$comment']) {
    const text = part[keyword];
    if (typeof text !== 'string') continue;
    readText(findings, `${path}/${keyword}`, text, known);
    for (const { finding, pattern, message } of parameterRules) {
      if (pattern.test(text)) addFinding(findings, { finding, path: `${path}/${keyword}`, message });
    }
  }
  if (isRecord(part.properties))
    for (const [name, parameter] of Object.entries(part.properties)) readParameter(findings, path, name, parameter);
  for (const keyword of ['enum', 'const', 'default', 'examples', 'example']) {
    for (const value of textsIn(part[keyword])) readValue(findings, `${path}/${keyword}`, value, known);
  }
}

function readParameter(findings: Finding[], path: string, name: string, parameter: unknown): void {
  const here = pointer(`${path}/properties`, name);
  const words = new Set(wordsOf(name));
  const asks = ['content', 'contents', 'reading', 'read', 'dump', 'file'].some((word) => words.has(word));
  if ((asks && secretWords.some((word) => words.has(word))) || /id_(?:rsa|ed25519)|etc_(?:passwd|shadow)/i.test(name)) {
    addFinding(findings, { finding: 'suspicious-parameter', path: here, message: 'is named after a file that contains secrets' });
  }
  const isIn = (list: readonly string[]): boolean => list.some((word) => words.has(word));
  const value = isRecord(parameter) ? parameter.default : undefined;
  if (typeof value === 'string' && isForeignUrl(value) && !(isIn(addressWords) && !isIn(recipientWords))) {
    const message = `sends data to ${quote(value)} unless the model changes the default`;
    addFinding(findings, { finding: 'url-in-default', path: `${here}/default`, message });
  }
}

const secretWords = ['ssh', 'rsa', 'passwd', 'shadow', 'env', 'credentials', 'keychain', 'cookies', 'dotenv', 'wallet'];

/** Words in the names of parameters that hold the address of the tool's service, or of what it reads. */
const addressWords = (
  'api base endpoint host server registry instance domain site website source proxy issuer ' +
  'url uri href src link data input file path page document pdf image video audio feed'
).split(' ');

/** An address with one of these receives something. */
const recipientWords = 'callback webhook hook notify notification report collect upload target'.split(' ');

function isForeignUrl(text: string): boolean {
  const match = /^\s{0,20}(?:https?|wss?|ftp):\/\/([^/:?#]{1,255})/i.exec(text);
  return match !== null && !/^(?:localhost|127\.|\[)|(?:^|\.)example\.(?:com|org|net)$/i.test(match[1] ?? '');
}

/** Choices are single words. A sentence with an order or a page of text is a finding. */
function readValue(findings: Finding[], path: string, value: string, known: ReadonlySet<string>): void {
  readText(findings, path, value, known);
  const isOrder =
    /\b(?:call|invoke|run|use|execute|send)\s(?:the\s)?["'`]?(?:[a-z][a-z0-9]{0,30}_[a-z0-9_]{1,60}|[\w-]{1,40}\stool\b)/i.test(value);
  if (isOrder && path.endsWith('/enum')) {
    addFinding(findings, { finding: 'long-enum-text', path, message: `gives an order instead of a choice: ${quote(value)}` });
  }
}

/** Returns the strings of a value, of a list, and of lists in it. Deeper strings are not choices. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string').slice(0, limits.maxSchemaSourceParts) : [];
}

function parameterNames(schema: unknown): string[] {
  return isRecord(schema) && isRecord(schema.properties) ? Object.keys(schema.properties).map(fold) : [];
}

// An advisory finding for administrators who review annotations: a tool that claims to be read-only but has a verb of change in its name.
// The policy does not use it, since no list of verbs is complete.

/**
 * Returns whether the first known verb of the name is a verb of change: `delete_file`, `repos-createIssue`, `browser_save`. After a verb of
 * reading the same words are nouns (`get_commit`), unless both are joined (`get_or_create_user`).
 */
export function hasMutatingName(name: string): boolean {
  const words = wordsOf(name);
  const verb = words.find((word) => changing.has(word) || reading.has(word));
  if (verb === undefined || changing.has(verb)) return verb !== undefined;
  return words.some((word) => joining.has(word)) && words.some((word) => changing.has(word));
}

/** Splits a name at capitals and at everything that is not a letter: `getHTTPPage_v2` is get, http, page, v. */
export function wordsOf(name: string): string[] {
  return spaceWords(name.slice(0, limits.maxToolNameLength))
    .toLowerCase()
    .split(/[^a-z]+/);
}

const changing: ReadonlySet<string> = new Set(
  (
    'delete remove destroy drop erase purge truncate wipe clear uninstall unlink rm write create update upsert insert add append edit modify ' +
    'replace rename patch put set save move copy upload import restore reset revert merge push commit fork install deploy publish send post ' +
    'reply invite pay buy purchase transfer refund charge submit approve reject assign execute exec run start stop restart kill terminate ' +
    'cancel trigger enable disable grant revoke'
  ).split(' '),
);

const reading: ReadonlySet<string> = new Set(
  'get list read search find fetch show view describe count check query lookup inspect'.split(' '),
);

const joining: ReadonlySet<string> = new Set(['and', 'or', 'then']);
