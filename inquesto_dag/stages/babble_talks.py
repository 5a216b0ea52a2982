"""What the talkers of the babble bed say: short talks about nothing that a caller or an agent speaks of."""

from __future__ import annotations

# One sentence each: the bed repeats a talk at other places anyway, and synthesis is what a run waits for.
TALKS = (
    "Last weekend we walked along the coast until the path ended at a small lighthouse.",
    "My grandmother bakes her bread with a handful of walnuts and a spoon of honey.",
    "The museum has moved its dinosaurs to the upper hall, so the children now run up two flights of "
    "stairs first.",
    "We tried the mountain railway in the rain, and honestly it was better that way.",
    "He has been learning the cello for three years, and the neighbours have learned patience.",
    "There is a new market by the river where farmers sell plums, cheese and very loud chickens.",
    "They are repainting the old theatre, the whole ceiling, with gold stars on a dark sky.",
    "Our garden was under water in spring, and then came the warmest June that anybody remembers.",
)
