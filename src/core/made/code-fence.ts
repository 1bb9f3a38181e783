/** Removes Markdown fences from code that models write: in `run_code`, and in made tools. */

/** Returns the code without a surrounding Markdown fence. */
export function withoutFence(code: string): string {
  return /^\s*```(?:js|javascript|ts|typescript)?[^\S\n]*\n(.*?)\n?```\s*$/s.exec(code)?.[1] ?? code;
}
