/**
 * UI tools that a person might want to open next (contract §7): the UI tools of a plan, ranked by the conversation. A pure function of
 * the tools and the conversation, so the result is reproducible. No model takes part in it. Used at the end of a turn.
 * Evidence for a tool, strongest first: one of its triggers as a phrase, the words of a trigger apart, its label, its category, words
 * of its description. The person's last message has full weight; earlier messages and the assistant's answer have less.
 */
import { memoizeByObject } from '../memoize.ts';
import { summaryOf } from '../toolset/model-definitions.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import type { Message } from '../turn/message.ts';
import { indexPhrases, isUnspaced, toUnits, type PhraseIndex, type Unit } from '../text/phrase-index.ts';
import type { Proposal, UiTool } from './ui-tool.ts';

export const maxProposals = 5;
/** Characters of each message that proposals are made from. */
export const maxProposalCharacters = 10_000;

/**
 * Returns the best proposals first, ties in the order of the toolset; at most `maxProposals`, none below `leastRelevance`. If
 * a tool has several entries, the first one counts. Held and missing tools are left out. `messages` is called only if there are UI
 * tools. Linear in the words of the conversation and of the tools.
 */
export function rankProposals(tools: readonly EditionTool[], messages: () => readonly Message[]): Proposal[] {
  const shown = new Map<string, EditionTool & { ui: UiTool }>();
  for (const tool of tools) if (isShown(tool) && !shown.has(tool.canonical)) shown.set(tool.canonical, tool);
  if (shown.size === 0) return [];
  const sources = readSources(messages());
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

type Source = { weight: number; words: PhraseIndex };
/** `topic`: the trigger or label as its author wrote it. */
type Evidence = { strength: number; topic: string | null };

function isShown(tool: EditionTool): tool is EditionTool & { ui: UiTool } {
  return tool.kind === 'ui' && tool.ui !== undefined && tool.state === 'ready';
}

/**
 * Newest first: an assistant message counts only if it answers the last user message. Earlier messages of the user count until the one that
 * the assistant answered: what was said before that was proposed then, and is not proposed again.
 */
function readSources(messages: readonly Message[]): Source[] {
  const sources: Source[] = [];
  let said = 0;
  let answered = false;
  for (let index = messages.length - 1; index >= 0 && said <= messagesBefore; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user' && message?.role !== 'assistant') continue;
    const text = textOf(message);
    if (text === '' || (message.role === 'assistant' && answered && said === 0)) continue;
    if (message.role === 'assistant' && said > 0) break;
    const weight = message.role === 'assistant' ? weights.answered : said === 0 ? weights.said : weights.saidBefore;
    if (message.role === 'user') said += 1;
    else answered = true;
    sources.push({ weight, words: indexPhrases(text) });
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

function propose(tool: EditionTool & { ui: UiTool }, sources: readonly Source[]): Proposal {
  const { canonical, description, ui } = tool;
  const signs = signsOf(tool);
  let best: Evidence = { strength: 0, topic: null };
  for (const { weight, words } of sources) {
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
const signsOf = memoizeByObject(({ ui: { triggers, label, category }, description }: EditionTool & { ui: UiTool }): Signs => {
  return {
    triggers: triggers.map((text) => {
      const units = toUnits(text);
      return { text, units, words: units.flat() };
    }),
    label,
    labelWords: toUnits(label).flat(),
    category: toUnits(category).flat(),
    described: tellingWords([label, description]),
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
function tellingWords(texts: readonly string[]): string[][] {
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
