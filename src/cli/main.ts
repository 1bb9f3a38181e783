#!/usr/bin/env node
/** The command `moniker`: parses the command line and runs a command. `program.ts` lists the commands. */
import { runProgram } from './program.ts';

await runProgram(process.argv.slice(2));
