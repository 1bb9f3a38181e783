/** The refusals of a service without keys, with every way to set them: the same text reaches callers, readers of the log and `doctor`. */
import { Problem } from '../problem.ts';

/** Shorter keys are refused because they can be guessed. */
export const minKeyLength = 32;

export function missingRootKey(): Problem {
  const fault = `No root key is set: MONIKER_ROOT_KEY is missing, or has fewer than ${minKeyLength} characters.`;
  return new Problem('not_configured', `${fault} ${waysToSet('MONIKER_ROOT_KEY')}`);
}

export function missingMasterKey(): Problem {
  return new Problem('not_configured', `Keys and secrets require MONIKER_MASTER_KEY, which is missing. ${waysToSet('MONIKER_MASTER_KEY')}`);
}

/** The Worker does not know what runs it. */
function waysToSet(name: string): string {
  return (
    `With \`wrangler dev\`, run \`npm run keys\`, which writes it to .dev.vars, and start again. ` +
    `A deployed Worker gets it from \`npm run deploy\` or \`wrangler secret put ${name}\`. \`npm start\` makes it.`
  );
}
