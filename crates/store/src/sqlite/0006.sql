-- How many wake-ups in a row led to a message, and how far down the chain the one is that an agent
-- answers now.
ALTER TABLE messages ADD COLUMN hop INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN answering_hop INTEGER;

-- When the process of an agent began, which tells it from a later one of the same number.
ALTER TABLE agents ADD COLUMN pid_started INTEGER;
