"""What the talkers of the babble bed say: short talks about nothing that a caller or an agent speaks of."""

from __future__ import annotations

TALKS = (
    "Last weekend we walked along the coast until the path ended at a small lighthouse. The keeper let "
    "us climb up, and from there the boats in the bay looked like crumbs on a blue cloth.",
    "My grandmother bakes her bread with a handful of walnuts and a spoon of honey. She says the oven "
    "knows when it is done, and somehow the loaves have never come out burnt.",
    "The museum has moved its dinosaurs to the upper hall, so the children now run up two flights of "
    "stairs first. The guards gave up asking them to walk a long time ago.",
    "We tried the mountain railway in the rain, and honestly it was better that way. Clouds hung in the "
    "valley, and every now and then a cow with a bell came out of the white.",
    "He has been learning the cello for three years, and the neighbours have learned patience. Lately "
    "there is a tune in it, mostly in the evening, and nobody shuts the window any more.",
    "There is a new market by the river where farmers sell plums, cheese and very loud chickens. I went "
    "for apples and came home with a lamp, two jars of mustard and no apples.",
    "They are repainting the old theatre, the whole ceiling, with gold stars on a dark sky. The "
    "painters lie on their backs all day and complain that the stars keep moving.",
    "Our garden was under water in spring, and then came the warmest June that anybody remembers. The "
    "beans grew past the roof, and the frogs decided to stay with us for good.",
)
