/** The command line of `npm start` and `npm run dev`: its options, and the text of `--help`. */
import { StartFailure } from './start-failure.ts';

export type StartArguments = { help: boolean; reload: boolean };

/** Parses the arguments after the script's name. Throws `StartFailure` for an unknown one. */
export function parseArguments(parameters: readonly string[]): StartArguments {
  const parsed: StartArguments = { help: false, reload: false };
  for (const parameter of parameters) {
    if (parameter === '--help' || parameter === '-h') parsed.help = true;
    else if (parameter === '--reload') parsed.reload = true;
    else throw new StartFailure(`Unknown option "${parameter}". \`npm start -- --help\` lists the options.`);
  }
  return parsed;
}

export const usage = `Usage: npm start              build what has changed, then run on this machine until Ctrl-C
       npm run dev            the same, and rebuild whenever a source file changes
       npm start -- --help    print this text

Environment variables:
  PORT                          port to listen on; 0 for any free one (default: 8787)
  MONIKER_DATA_DIR              folder for keys, storage and the bundle (default: .moniker)
  MONIKER_SKILLS_DIR            folder of skills to load at every start
  MONIKER_ROOT_KEY              root API key, 32 characters or more (default: generated, in <data folder>/keys)
  MONIKER_MASTER_KEY            key that encrypts secrets, 32 characters or more (default: generated, in <data folder>/keys)
  MONIKER_PUBLIC_URL            URL under which clients reach this service (default: http://127.0.0.1:<port>)
  MONIKER_ALLOWED_ORIGINS       origins that browsers may call from, comma-separated
  MONIKER_ALLOW_PRIVATE_HOSTS   private hosts that requests may go to, comma-separated, for example 127.0.0.1:*
  MONIKER_ALIASES               off: resolve no aliases
  MONIKER_LOG                   error, info or debug (default: info)
  OLLAMA_HOST                   address of a local Ollama (default: 127.0.0.1:11434)
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, COHERE_API_KEY
                                keys of model providers`;
