/**
 * Sources that a model cites, in one form for all wires: OpenAI's `url_citation`, Anthropic's citations of web pages, Gemini's grounding and
 * Perplexity's lists. They are shown to clients and are not part of the conversation that a model is sent.
 */
import * as z from 'zod';
import { isCount } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';

/** The citations of one reply, and the characters of a title or a quote. */
export const maxCitations = 200;
const maxCitedCharacters = 2_000;

export const Citation = z
  .object({
    url: z.string(),
    title: z.string().optional(),
    quote: z.string().optional().meta({ description: 'The cited text of the source.' }),
    start: z
      .int()
      .optional()
      .meta({ description: 'The cited text of the answer, in UTF-16 units from the begin of the text of its step.' }),
    end: z.int().optional(),
  })
  .meta({ id: 'Citation' });
export type Citation = z.infer<typeof Citation>;

/** Returns null for a source without a web address. `start` and `end` are used if they are a range. */
export function toCitation(source: { url: unknown; title?: unknown; quote?: unknown; start?: unknown; end?: unknown }): Citation | null {
  const { url, title, quote, start, end } = source;
  if (typeof url !== 'string' || url.length > limits.maxUrlLength || !/^https?:\/\//i.test(url)) return null;
  return {
    url,
    ...(typeof title === 'string' && title !== '' && { title: title.slice(0, maxCitedCharacters).toWellFormed() }),
    ...(typeof quote === 'string' && quote !== '' && { quote: quote.slice(0, maxCitedCharacters).toWellFormed() }),
    ...(isCount(start) && isCount(end) && start < end && { start, end }),
  };
}

/** Returns a function that returns those of its sources that are new, as far as the limit of a reply allows. */
export function createCitationFilter(): (sources: readonly (Citation | null)[]) => Citation[] {
  const known = new Set<string>();
  return (sources) =>
    sources.filter((source): source is Citation => {
      if (source === null || known.size >= maxCitations) return false;
      const key = `${source.url} ${source.start ?? ''} ${source.end ?? ''}`;
      if (known.has(key)) return false;
      known.add(key);
      return true;
    });
}

/** Returns the citations of a text that begins at `offset` in a longer text. */
export function shiftCitations(citations: readonly Citation[], offset: number): Citation[] {
  return citations.map(({ start, end, ...source }) => ({
    ...source,
    ...(start !== undefined && end !== undefined && end + offset > 0 && { start: Math.max(0, start + offset), end: end + offset }),
  }));
}

/** In OpenAI's form. Without a place in the text, the citation is of the whole text. */
export function toUrlCitation({ url, title, start, end }: Citation, length: number) {
  return { url, title: title ?? url, start_index: Math.min(start ?? 0, length), end_index: Math.min(end ?? length, length) };
}
