/**
 * Tools that a person might want to open next (contract §7): the UI tools of a plan, and those that the agent lists, ranked by the conversation. A pure function of
 * the tools and the conversation, so the result is reproducible. No model takes part in it. Used at the end of a turn.
 * Evidence for a tool, strongest first: one of its triggers or names as a phrase, the words of one apart, its label or a short name, its category,
 * words of its names and description. The person's last message has full weight; earlier messages and the assistant's answer have less.
 */
import { memoizeByObject } from '../memoize.ts';
import { summaryOf } from './model-definitions.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { isVerb, spaceWords, withoutVerb } from '../names/name-words.ts';
import { reservedCanonicals } from '../names/reserved-names.ts';
import type { Message } from '../model/message.ts';
import { indexPhrases, isUnspaced, stem, toPhrase, toUnits, type PhraseIndex } from '../text/phrase-index.ts';
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

/** Returns how a tool is shown. One for models is described by its names and the first line of its description. */
function shownAs({ ui, wireName, description }: EditionTool): UiTool {
  if (ui !== undefined) return ui;
  const label = spokenForm(wireName);
  return { label: label.charAt(0).toUpperCase() + label.slice(1), description: summaryOf(description), category: 'tool', triggers: [] };
}

function spokenForm(name: string): string {
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
        sources.push({
          kind: isPast ? 'past' : 'said',
          weight: said === 0 ? weights.said : weights.saidBefore,
          words: indexPhrases(text),
        });
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
  const about = topic === null || topic.toLowerCase() === label.toLowerCase() ? '' : ` (“${topic}”)`;
  const summary = summaryOf(description);
  return `${label}${about}${summary === '' ? '' : `: ${summary}`}`;
}

/** `text`: the topic; null for none. */
type Phrase = { text: string | null; phrase: string; strength: number };
type Signs = {
  phrases: Phrase[];
  /** Triggers and names that also count by their significant words. */
  scattered: { text: string; words: string[] }[];
  described: SignificantWord[];
};

/** Cached with the edition: parsing takes longer than searching. */
const signsOf = memoizeByObject((tool: EditionTool): Signs => {
  const { ui, wireName, ownName, aliases, description } = tool;
  const names = [...new Set([wireName, ownName, ...aliases.map(({ name }) => name)].map(spokenForm))];
  const nouns = names.map((name) => withoutVerb(name)?.replaceAll('_', ' ') ?? name);
  const phrases = [...names, ...nouns].filter(isTelling).map((text) => phraseOf(text, nameStrength(tool, text)));
  const described = [...nouns, ui?.label ?? '', ui?.description ?? summaryOf(description)];
  if (ui === undefined) {
    const asked = names.flatMap((name, index) => requestsOf(name, nouns[index] ?? name));
    const scattered = names.filter(isTellingApart);
    return { phrases: [...phrases, ...asked], scattered: scattered.map(toScattered), described: significantWords(described) };
  }
  const triggers = ui.triggers.map((text) => phraseOf(text, strengths.trigger));
  const shown = [phraseOf(ui.label, strengths.label), { ...phraseOf(ui.category, strengths.category), text: null }];
  return { phrases: [...triggers, ...shown, ...phrases], scattered: ui.triggers.map(toScattered), described: significantWords(described) };
});

function phraseOf(text: string, strength: number): Phrase {
  return { text, phrase: toPhrase(toUnits(text).flat()), strength };
}

function toScattered(text: string): Signs['scattered'][number] {
  const telling = toUnits(text).filter((unit) => unit.some(isUnspaced) || (unit[0]?.length ?? 0) > 2);
  return { text, words: telling.map(toPhrase) };
}

/** The requests for a short noun, which means nothing by itself: `create pdf`, `make me a pdf`, … */
function requestsOf(name: string, noun: string): Phrase[] {
  const verb = name.slice(0, -noun.length).trim();
  if (verb === '' || isTelling(noun)) return [];
  const asked = creating.includes(verb) ? creating : [verb];
  return asked.flatMap((word) => articles.map((article) => ({ ...phraseOf(`${word} ${article} ${noun}`, strengths.trigger), text: name })));
}

const creating = ['create', 'make', 'generate'];
const articles = ['', 'a', 'an', 'the', 'my', 'some', 'me', 'me a', 'me an', 'me the', 'me some'];

/** A short name is as strong as a label: it may be a word of another subject. */
function nameStrength({ ui }: EditionTool, text: string): number {
  return ui === undefined && text.length > shortNameLength ? strengths.trigger : strengths.label;
}

const shortNameLength = 4;

/** Shorter names, such as `cat`, are found by chance, and so are words that many tools have. */
function isTelling(text: string): boolean {
  return text.length > shortNameLength || (text.length === shortNameLength && !commonNames.has(text));
}

/** The words of `web search` mean the tool also apart, as in `search the web`. Two nouns (`mind map`) and common ones (`get time`) do not. */
function isTellingApart(name: string): boolean {
  const words = name.split(' ');
  return words.length > 2 || (words.some(isVerb) && words.some((word) => !isVerb(word) && !commonNames.has(word)));
}

const commonNames: ReadonlySet<string> = new Set(
  (
    'case code copy data date edit file find help home host info item keys line link list logs move name open page part path read rows save send ' +
    'site text time tool type user view word work'
  ).split(' '),
);

function evidence({ phrases, scattered, described: words }: Signs, spoken: PhraseIndex): Evidence {
  let best: Evidence = { strength: 0, topic: null };
  const take = (strength: number, topic: string | null): void => {
    if (strength > best.strength) best = { strength, topic };
  };
  for (const { phrase, strength, text } of phrases) if (strength > best.strength && spoken.has(phrase)) take(strength, text);
  for (const { text, words } of scattered) {
    const share = shareOf(words, spoken);
    take(strengths.scattered * share, share === 1 ? text : null);
  }
  take(described(words, spoken), null);
  return best;
}

/** The share of the words that occur: all or most of them, and never a single one. */
function shareOf(words: readonly string[], spoken: PhraseIndex): number {
  const found = words.filter((word) => spoken.has(word)).length;
  return found >= 2 && found * 3 >= words.length * 2 ? found / words.length : 0;
}

function described(words: readonly SignificantWord[], spoken: PhraseIndex): number {
  let [found, next] = [0, 0];
  for (const { phrase, at, size } of words) {
    // Groups of characters overlap: those that share one are a single word.
    if (at < next || !spoken.has(phrase)) continue;
    found += 1;
    next = at + size;
  }
  return found < 2 ? 0 : Math.min(strengths.describedMost, strengths.described + (found - 2) * strengths.describedFurther);
}

/** `at`: its position among all words; `size`: how many it is of. */
type SignificantWord = { phrase: string; at: number; size: number };

/** Returns each significant word once: long words, and in scripts without spaces groups of as many characters as a short word has. */
function significantWords(texts: readonly string[]): SignificantWord[] {
  const found = new Map<string, SignificantWord>();
  let at = 0;
  for (const unit of texts.flatMap(toUnits)) {
    for (const [index, word] of unit.entries()) {
      at += 1;
      const size = !isUnspaced(word) ? 1 : Math.min(isDense.test(word) ? 2 : 4, Math.max(unit.length, 2));
      const words = unit.slice(index, index + size);
      const phrase = toPhrase(words);
      const isWhole = size === 1 ? word.length > 3 && !emptyWords.has(phrase) : words.length === size && words.every(isUnspaced);
      if (isWhole && !found.has(phrase)) found.set(phrase, { phrase, at, size });
    }
  }
  return [...found.values()];
}

/** Scripts in which two characters are a word. */
const isDense = /^[\p{Script=Han}\p{Script=Hangul}]/u;

/** The most frequent long words of English, as stems: two of them occur in nearly every pair of texts. */
const emptyWords: ReadonlySet<string> = new Set(
  (
    'about after also and another been before both could create does each every from have here into just like make many more most much need ' +
    'only other over please same some such than that their them then there these they this those through used using very want well were ' +
    'what when where which while will with would your'
  )
    .split(' ')
    .map(stem),
);
