/** Code as models hand it over. Used where code of a model is taken: `run_code`, and tools that are made. */

/** Without the fence of Markdown that is put around code for a reader. */
export function withoutFence(code: string): string {
  return /^\s*```(?:js|javascript|ts|typescript)?[^\S\n]*\n(.*?)\n?```\s*$/s.exec(code)?.[1] ?? code;
}
