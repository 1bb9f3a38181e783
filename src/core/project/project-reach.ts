/**
 * What applying a project reaches beyond inert documents: the commands that it runs, the hosts that it contacts, the variables that it reads, and
 * what weakens the protection of the workspace. A person sees these lines before a project of a stranger is applied (contract §13).
 */
import { limits } from '../limits/limits.ts';
import { isRecord, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { oneLine } from '../text/paragraphs.ts';
import { visibleJson } from '../text/visible-text.ts';
import { mapPlaces, variableNames } from './expand-variables.ts';

/** Documents that send requests, with their variables. */
const sendingSections: ReadonlySet<string> = new Set(['secrets', 'providers', 'servers', 'webhooks', 'schedules', 'subscriptions']);
/** The name of a model is sent to its provider, so it matters where the project has one. */
const modelSections: ReadonlySet<string> = new Set(['agents', 'modelAliases']);
/** Changed as a whole: they say who may do what. */
const wholeSections: ReadonlySet<string> = new Set(['policy', 'workspace']);

/** Returns a line for each such thing, as written in the file: before variables are filled in. `project`: not checked yet. */
export function reachOf(project: unknown): string[] {
  const hasProviders = Object.keys(recordOf(recordOf(project).providers)).length > 0;
  const lines = Object.entries(recordOf(project)).flatMap(([section, documents]) => {
    if (wholeSections.has(section)) return [`${section} is set to ${visibleJson(documents)}`];
    return Object.entries(recordOf(documents)).flatMap(([name, document]) => {
      const path = `${section}.${name}`;
      const isSending = sendingSections.has(section);
      const isSent = isSending || (hasProviders && modelSections.has(section));
      return [
        ...protectionLines(section, path, recordOf(document)),
        ...(section === 'servers' ? commandLines(path, recordOf(document)) : []),
        ...requestLines(path, hostsIn(document, isSending), isSent ? variablesIn(section, document) : []),
      ];
    });
  });
  // A name with a line break must not add a line.
  return lines.map(oneLine);
}

function commandLines(path: string, document: Record<string, unknown>): string[] {
  if (document.command === undefined) return [];
  const { kind: _kind, command, args, ...rest } = document;
  const words = [command, ...listOf(args)].map(quoteWord).join(' ');
  return [`${path} runs the command: ${words}${Object.keys(rest).length === 0 ? '' : ` with ${visibleJson(rest)}`}`];
}

function quoteWord(word: unknown): string {
  return typeof word === 'string' && /^[\w@%+=:,./-]+$/.test(word) ? word : visibleJson(word);
}

function requestLines(path: string, hosts: readonly string[], variables: readonly string[]): string[] {
  const reads = variables.length === 0 ? '' : `reads the variables ${variables.join(', ')}`;
  if (hosts.length > 0) return [`${path} contacts ${hosts.join(', ')}${reads === '' ? '' : ` and ${reads}`}`];
  return reads === '' ? [] : [`${path} ${reads}`];
}

function protectionLines(section: string, path: string, document: Record<string, unknown>): string[] {
  if (section === 'members') return [`${path} lets a person in: ${visibleJson(document)}`];
  if (section === 'schedules') return [`${path} starts turns by itself`];
  if (section === 'webhooks') return [`${path} starts turns when requests arrive`];
  if (section === 'servers' && document.trusted === true) return [`${path} is trusted: only destructive calls require approval`];
  if (section === 'agents' && document.taint === false) return [`${path} is exempt from the taint rule`];
  const isUnapproved = section === 'toolsets' && listOf(document.tools).some((entry) => recordOf(entry).approval === 'never');
  return isUnapproved ? [`${path} has calls that never require approval`] : [];
}

function variablesIn(section: string, document: unknown): string[] {
  const names = new Set<string>();
  mapPlaces({ [section]: { document } }, (text) => {
    for (const name of variableNames(text)) names.add(name);
    return text;
  });
  return [...names];
}

/** Other sections have prose, code and examples, in which only members with the name of a URL count. */
function hostsIn(document: unknown, isEverywhere: boolean): string[] {
  const hosts = new Set<string>();
  const look = (value: unknown, isUrl: boolean): void => {
    if (typeof value === 'string' && (isUrl || isEverywhere)) {
      // `URL` ignores these characters, also within a host.
      const found = hostsOf(isUrl ? value.replaceAll(/[\t\n\r]/g, '') : value);
      // A URL in another form must not be missed; a variable is listed by its name.
      if (found.length === 0 && isUrl && !value.startsWith('$')) found.push(value.slice(0, limits.maxQuotedLength));
      for (const host of found) hosts.add(host);
    } else if (Array.isArray(value)) for (const item of value) look(item, isUrl);
    else if (isRecord(value)) for (const [name, item] of Object.entries(value)) look(item, /url$/i.test(name));
  };
  look(document, false);
  for (const host of listOf(recordOf(document).hosts)) hosts.add(stringOf(host));
  return [...hosts].filter((host) => host !== '');
}

function hostsOf(text: string): string[] {
  return [...text.matchAll(/https?:\/\/([^\s/\\?#"'<>]+)/gi)].map(([url, authority = '']) =>
    authority.includes('$') ? authority : (URL.parse(url)?.host ?? authority),
  );
}
