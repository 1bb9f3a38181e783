/**
 * Tools that a person might want to open next (contract §7): the UI tools of a plan, and those that the agent lists, ranked by the conversation. A pure function of
 * the tools and the conversation, so the result is reproducible. No model takes part in it. Used at the end of a turn.
 * Evidence for a tool, strongest first: one of its triggers as a phrase, the words of a trigger apart, its label, its category, words
 * of its description. The person's last message has full weight; earlier messages and the assistant's answer have less.
 */
import { memoizeByObject } from '../memoize.ts';
import { summaryOf } from './model-definitions.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { spaceWords, withoutVerb } from '../names/name-words.ts';
import { reservedCanonicals } from '../names/reserved-names.ts';
import type { Message } from '../model/message.ts';
import { indexPhrases, isUnspaced, toUnits, type PhraseIndex, type Unit } from '../text/phrase-index.ts';
import type { Proposal, UiTool } from '../tools/ui-tool.ts';

export const maxProposals = 5;
/** Characters of each message that proposals are made from. */
export const maxProposalCharacters = 10_000;

/**
 * `isListed`: the tools are those that the agent lists, so those for models are proposed too, unless the turn called them.
 * Returns the best proposals first, ties in the order of the toolset; at most `maxProposals`, none below `leastRelevance`. If
 * a tool has several entries, the first one counts. Held and missing tools are left out. `messages` is called only if there are
 * tools to propose. Linear in the words of the conversation and of the tools.
 */
export function rankProposals(tools: readonly EditionTool[], messages: () => readonly Message[], isListed = false): Proposal[] {
  const shown = new Map<string, EditionTool>();
  for (const tool of tools)
    if ((isUi(tool) || (isListed && isOffered(tool))) && !shown.has(tool.canonical)) shown.set(tool.canonical, tool);
  if (shown.size === 0) return [];
  const conversation = messages();
  for (const canonical of calledTools(conversation)) if (shown.get(canonical)?.kind !== 'ui') shown.delete(canonical);
  const sources = readSources(conversation);
  return [...shown.values()]
    .map((tool) => propose(tool, sources))
    .filter(({ relevance }) => relevance >= leastRelevance)
    .sort((a, b) => b.relevance - a.relevance)
    .slice(0, maxProposals);
}

/** Below this, only an accidental word matched. */
const leastRelevance = 0.5;

const strengths = {
  trigger: 1,
  /** All words of a trigger, but apart; some of them give a proportional share. */
  scattered: 0.9,
  label: 0.85,
  category: 0.75,
  /** Two words of label and description; each further one adds a little. */
  described: 0.5,
  describedFurther: 0.05,
  describedMost: 0.7,
};

const weights = { said: 1, saidBefore: 0.85, answered: 0.7 };
/** The number of the person's messages before the newest that count. */
const messagesBefore = 2;
/** The user's messages that are read, past ones included. */
const messagesRead = 10;

/** `past`: what the user said before an earlier answer. */
type Source = { kind: 'said' | 'answer' | 'past'; weight: number; words: PhraseIndex };
/** `topic`: the trigger or label as its author wrote it. */
type Evidence = { strength: number; topic: string | null };

function isUi({ kind, ui, state }: EditionTool): boolean {
  return kind === 'ui' && ui !== undefined && state === 'ready';
}

/** Leaves out the tools that turns add, and those of the caller. */
function isOffered(tool: EditionTool): boolean {
  return isForModels(tool) && tool.kind !== 'client' && !reservedCanonicals.has(tool.canonical);
}

/** Returns the canonical names of the tools that were called since the last message of the user. */
function calledTools(messages: readonly Message[]): string[] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  return since.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-call' && part.canonical !== null ? [part.canonical] : [])),
  );
}

/** Names shorter than this, such as `cat`, are found by chance. */
const leastNameLength = 5;

/** Returns how a tool is shown. One for models is described by its names and the first line of its description. */
const shownAs = memoizeByObject(({ ui, wireName, ownName, aliases, description }: EditionTool): UiTool => {
  if (ui !== undefined) return ui;
  const names = [wireName, ownName, ...aliases.map(({ name }) => name)];
  const spoken = names.flatMap((name) => [name, withoutVerb(name) ?? name]).map(wordsOf);
  const label = wordsOf(wireName);
  return {
    label: label.charAt(0).toUpperCase() + label.slice(1),
    description: summaryOf(description),
    category: 'tool',
    triggers: [...new Set(spoken)].filter((text) => text.length >= leastNameLength),
  };
});

function wordsOf(name: string): string {
  return spaceWords(name)
    .replace(/[-_.]+/g, ' ')
    .toLowerCase()
    .trim();
}

/**
 * Newest first: an assistant message counts only if it answers the last user message. Earlier messages of the user count until the one that
 * the assistant answered: what was said before that was proposed then, and is not proposed again.
 */
function readSources(messages: readonly Message[]): Source[] {
  const sources: Source[] = [];
  let said = 0;
  let isPast = false;
  for (let index = messages.length - 1; index >= 0 && said < messagesRead; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user' && message?.role !== 'assistant') continue;
    const text = textOf(message);
    if (text === '') continue;
    if (message.role === 'user') {
      if (isPast || said <= messagesBefore)
        sources.push({ kind: isPast ? 'past' : 'said', weight: said === 0 ? weights.said : weights.saidBefore, words: indexPhrases(text) });
      said += 1;
    } else if (said > 0) isPast = true;
    else if (sources.length === 0) sources.push({ kind: 'answer', weight: weights.answered, words: indexPhrases(text) });
  }
  return sources;
}

function textOf({ parts }: Message): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += ` ${part.text}`;
    if (text.length > maxProposalCharacters) break;
  }
  return text.slice(0, maxProposalCharacters).trim();
}

function propose(tool: EditionTool, sources: readonly Source[]): Proposal {
  const { canonical, description } = tool;
  const ui = shownAs(tool);
  const signs = signsOf(tool);
  let best: Evidence = { strength: 0, topic: null };
  const isProposed = sources.some(({ kind, words }) => kind === 'past' && evidence(signs, words).strength >= leastRelevance);
  for (const { kind, weight, words } of sources) {
    // A model names its own tools without suggesting them, and an answer may repeat what the user said before.
    if (kind === 'past' || (kind === 'answer' && (isProposed || tool.ui === undefined))) continue;
    const found = evidence(signs, words);
    if (found.strength * weight > best.strength) best = { ...found, strength: found.strength * weight };
  }
  return {
    canonical,
    label: ui.label,
    text: sentence(ui, description, best.topic),
    relevance: Math.round(best.strength * 100) / 100,
    category: ui.category,
    ...(ui.href !== undefined && { href: ui.href }),
  };
}

/** Contains no words of our own: labels and descriptions are in the person's language. */
function sentence({ label }: UiTool, description: string, topic: string | null): string {
  const about = topic === null || topic === label ? '' : ` (“${topic}”)`;
  const summary = summaryOf(description);
  return `${label}${about}${summary === '' ? '' : `: ${summary}`}`;
}

type Signs = {
  triggers: { text: string; units: Unit[]; words: string[] }[];
  label: string;
  category: string[];
  labelWords: string[];
  described: string[][];
};

/** Cached with the edition: parsing takes longer than searching. */
const signsOf = memoizeByObject((tool: EditionTool): Signs => {
  const { triggers, label, category, description } = shownAs(tool);
  return {
    triggers: triggers.map((text) => {
      const units = toUnits(text);
      return { text, units, words: units.flat() };
    }),
    label,
    labelWords: tool.ui === undefined && label.length < leastNameLength ? [] : toUnits(label).flat(),
    // The category of tools for models says nothing about one of them.
    category: tool.ui === undefined ? [] : toUnits(category).flat(),
    described: significantWords([label, tool.ui === undefined ? description : tool.description]),
  };
});

function evidence(signs: Signs, spoken: PhraseIndex): Evidence {
  let best: Evidence = { strength: 0, topic: null };
  const take = (strength: number, topic: string | null): void => {
    if (strength > best.strength) best = { strength, topic };
  };
  for (const { text, units, words } of signs.triggers) {
    if (spoken.has(words)) return { strength: strengths.trigger, topic: text };
    const share = shareOf(units, spoken);
    take(strengths.scattered * share, share === 1 ? text : null);
  }
  if (spoken.has(signs.labelWords)) take(strengths.label, signs.label);
  if (spoken.has(signs.category)) take(strengths.category, null);
  take(described(signs.described, spoken), null);
  return best;
}

/** The share of the significant words that occur: all or most of them, and never a single one. */
function shareOf(units: readonly Unit[], spoken: PhraseIndex): number {
  const telling = units.filter((unit) => unit.some(isUnspaced) || (unit[0]?.length ?? 0) > 2);
  if (telling.length < 2) return 0;
  const found = telling.filter((unit) => spoken.has(unit)).length;
  return found >= 2 && found * 3 >= telling.length * 2 ? found / telling.length : 0;
}

function described(words: readonly string[][], spoken: PhraseIndex): number {
  let found = 0;
  for (const word of words) if (spoken.has(word)) found += 1;
  return found < 2 ? 0 : Math.min(strengths.describedMost, strengths.described + (found - 2) * strengths.describedFurther);
}

/** Returns each significant word once: long words, and pairs of characters in scripts without spaces. */
function significantWords(texts: readonly string[]): string[][] {
  const words = new Map<string, string[]>();
  for (const unit of texts.flatMap(toUnits)) {
    for (const [index, word] of unit.entries()) {
      const next = unit[index + 1];
      if (!isUnspaced(word)) {
        if (word.length > 3 && !emptyWords.has(word)) words.set(word, [word]);
      } else if (next !== undefined && isUnspaced(next)) words.set(`${word} ${next}`, [word, next]);
    }
  }
  return [...words.values()];
}

/** The most frequent long words of English: two of them occur in nearly every pair of texts. */
const emptyWords: ReadonlySet<string> = new Set(
  (
    'about after also and another been before both could does each every from have here into just like make many more most much need ' +
    'only other over please same some such than that their them then there these they this those through used using very want well were ' +
    'what when where which while will with would your'
  ).split(' '),
);
