// Every job of the product survives every crash; `crashMatrix` says how. Four files share the scenarios, because files
// run in parallel.
import { sharedMatrix } from './shared-matrix.ts'

sharedMatrix(2)
