-- Lines are in the order of their times, so halving finds the first line of a time (src/kernel/audit/chain.ts): this
-- index was a twelfth of the log, and one more page to write for each line.
DROP INDEX audit_at;
