/** Runs before each test file in Node: a property that names no number of runs is checked as often as `selection.ts` says of 100. */
import fc from 'fast-check';
import { runs } from './selection.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: runs(100) });
