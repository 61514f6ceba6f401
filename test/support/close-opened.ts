// bunfig.toml loads this before each test file: the workers of a parallel run have no event for their own end.
import { afterAll } from 'bun:test'
import { closeOpened } from './opened.ts'

afterAll(closeOpened)
