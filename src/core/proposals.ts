/**
 * What a person might want to open next (DESIGN §7): the UI tools of a plan, ranked by what was said. A pure function of the tools and
 * the conversation, so that it says the same whenever it is asked. No model is asked, and none is told. Used at a turn's end.
 *
 * What speaks for a tool, strongest first: one of its triggers as a phrase, the trigger's words apart, its label, its category, words of
 * its description. What the person said last counts in full, what they said before it and what the assistant answered less.
 */
import { summaryOf } from './announce.ts';
import type { EditionTool } from './edition-tool.ts';
import { limits } from './limits.ts';
import type { Message } from './message.ts';
import { indexWords, isUnspaced, toUnits, type SpokenWords, type Unit } from './spoken-words.ts';
import type { Proposal, UiTool } from './ui-tool.ts';

/**
 * Best first, equals in the toolset's order; at most `limits.maxProposals`, none below `leastRelevance`. Of several entries of one tool the
 * first. Tools that are held or missing are left out. The conversation is only asked for where there is something to propose. Linear in the words of the conversation, and in those of the tools.
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
    .slice(0, limits.maxProposals);
}

/** Below this nothing but a chance word spoke for the tool. */
const leastRelevance = 0.5;

const strengths = {
  trigger: 1,
  /** The words of a trigger, all of them, but apart; some of them are worth their share. */
  scattered: 0.9,
  label: 0.85,
  category: 0.75,
  /** Two words of label and description; each further one adds a little. */
  described: 0.5,
  describedFurther: 0.05,
  describedMost: 0.7,
};

const weights = { said: 1, saidBefore: 0.85, answered: 0.7 };
/** Messages of the person that count beside the newest. */
const messagesBefore = 2;

type Source = { weight: number; words: SpokenWords };
/** `topic`: the trigger or label as the tool's author wrote it. */
type Evidence = { strength: number; topic: string | null };

function isShown(tool: EditionTool): tool is EditionTool & { ui: UiTool } {
  return tool.kind === 'ui' && tool.ui !== undefined && tool.state === 'ready';
}

/** Newest first: only the answer to what was said last is an answer to it. */
function readSources(messages: readonly Message[]): Source[] {
  const sources: Source[] = [];
  let said = 0;
  let answered = false;
  for (let index = messages.length - 1; index >= 0 && said <= messagesBefore; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user' && (message?.role !== 'assistant' || answered || said > 0)) continue;
    const text = textOf(message);
    if (text === '') continue;
    const weight = message.role === 'assistant' ? weights.answered : said === 0 ? weights.said : weights.saidBefore;
    if (message.role === 'user') said += 1;
    else answered = true;
    sources.push({ weight, words: indexWords(text) });
  }
  return sources;
}

function textOf({ parts }: Message): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += ` ${part.text}`;
    if (text.length > limits.maxProposalCharacters) break;
  }
  return text.slice(0, limits.maxProposalCharacters).trim();
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

/** No words of ours in it: labels and descriptions are in the person's language. */
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

/** Kept with the edition: reading them takes longer than looking for them. */
const read = new WeakMap<EditionTool, Signs>();

function signsOf(tool: EditionTool & { ui: UiTool }): Signs {
  const known = read.get(tool);
  if (known !== undefined) return known;
  const signs = readSigns(tool.ui, tool.description);
  read.set(tool, signs);
  return signs;
}

function readSigns({ triggers, label, category }: UiTool, description: string): Signs {
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
}

function evidence(signs: Signs, spoken: SpokenWords): Evidence {
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

/** Of the words that say something: all or most of them, and never a single one. */
function shareOf(units: readonly Unit[], spoken: SpokenWords): number {
  const telling = units.filter((unit) => unit.some(isUnspaced) || (unit[0]?.length ?? 0) > 2);
  if (telling.length < 2) return 0;
  const found = telling.filter((unit) => spoken.has(unit)).length;
  return found >= 2 && found * 3 >= telling.length * 2 ? found / telling.length : 0;
}

function described(words: readonly string[][], spoken: SpokenWords): number {
  let found = 0;
  for (const word of words) if (spoken.has(word)) found += 1;
  return found < 2 ? 0 : Math.min(strengths.describedMost, strengths.described + (found - 2) * strengths.describedFurther);
}

/** Each once: long words, and pairs of characters where words are not set apart. */
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

/** The commonest long words of English: two of them stand in nearly every pair of texts. */
const emptyWords: ReadonlySet<string> = new Set(
  (
    'about after also and another been before both could does each every from have here into just like make many more most much need ' +
    'only other over please same some such than that their them then there these they this those through used using very want well were ' +
    'what when where which while will with would your'
  ).split(' '),
);
